"""The student: any `nn.Module`, stood at any θ, watched from inside, averaged, left without a trace."""
