r"""A student whose meta-gradient is solved on paper.

The student is one number θ; sample k asks for $c_k$ and costs $\ell_k(\theta) = a_k (\theta - c_k)^2/2$.
The teacher is one number $\omega_k$ per sample, its weights $w_k = \omega_k$ as they are, divided by
the count of one batch of n samples: $\tilde w_k = \omega_k / n$. Every step sees the same n samples.
The trusted loss is $M(\theta) = (\theta - c)^2/2$, so $dM/d\theta = \theta - c$.

With $A = \sum_k \tilde w_k a_k$ the gradient of a step is $g(\theta) = \sum_k \tilde w_k a_k
(\theta - c_k)$, its slope $\partial g/\partial\theta = A$, and $\partial g/\partial\omega_k =
a_k(\theta - c_k)/n =: q_k(\theta)$.

**SGD, one step** $\theta_1 = \theta_0 - \eta\, g(\theta_0)$:

$$ dM/d\omega_k = -\eta\,(\theta_1 - c)\,q_k(\theta_0). $$

**Momentum, two steps** of rates $\eta_0, \eta_1$ from $v_0 = 0$: $v_1 = g(\theta_0)$, $\theta_1 =
\theta_0 - \eta_0 v_1$, $v_2 = \mu v_1 + g(\theta_1)$, $\theta_2 = \theta_1 - \eta_1 v_2$. Since
$d\theta_1/d\omega_k = -\eta_0 q_k(\theta_0)$ and $dv_2/d\omega_k = \mu q_k(\theta_0) + A\,
d\theta_1/d\omega_k + q_k(\theta_1)$,

$$ dM/d\omega_k = -(\theta_2 - c)\,\big[(\eta_0 + \eta_1\mu - \eta_1\eta_0 A)\, q_k(\theta_0)
   + \eta_1 q_k(\theta_1)\big]. $$

$A$ is what the Hessian-vector product brings; $\eta_0$ and $\eta_1$ stand at different places on
purpose, so that a shifted index shows.
"""

import torch
from torch import Tensor, nn

import reweigh

A = torch.tensor([1.0, 2.0, 0.5], dtype=torch.float64)
C = torch.tensor([-1.0, 0.5, 2.0], dtype=torch.float64)
OMEGA = torch.tensor([0.3, 1.2, 0.9], dtype=torch.float64)
TARGET = 0.7
START = 1.5
N = len(A)


class OneNumber(nn.Module):
    """θ."""

    def __init__(self) -> None:
        super().__init__()
        self.theta = nn.Parameter(torch.tensor([START], dtype=torch.float64))

    def forward(self, a: Tensor, c: Tensor) -> Tensor:
        """ℓ_k, (n,)."""
        return a * (self.theta - c) ** 2 / 2


class OneWeightEach(reweigh.Teacher):
    """w = ω, over the count."""

    normalise = "count"

    def __init__(self) -> None:
        super().__init__()
        self.omega = nn.Parameter(OMEGA.clone())

    def forward(self, seen: reweigh.Seen) -> Tensor:
        """ω, whatever is seen."""
        return self.omega


BATCH = (A, C)
TRUSTED = (torch.ones(1, dtype=torch.float64), torch.full((1,), TARGET, dtype=torch.float64))


def loss(student: nn.Module, batch: tuple[Tensor, Tensor]) -> Tensor:
    """Per-sample losses."""
    return student(*batch)


def gradient(theta: float) -> float:
    """g(θ)."""
    return float((OMEGA / N * A * (theta - C)).sum())


def q(theta: float) -> Tensor:
    """∂g/∂ω, (n,)."""
    return A * (theta - C) / N


def sgd_one_step(eta: float) -> Tensor:
    """dM/dω through one step of SGD, by hand."""
    theta_1 = START - eta * gradient(START)
    return -eta * (theta_1 - TARGET) * q(START)


def momentum_two_steps(eta_0: float, eta_1: float, mu: float) -> Tensor:
    """dM/dω through two steps with momentum from v_0 = 0, by hand."""
    slope = float((OMEGA / N * A).sum())
    v_1 = gradient(START)
    theta_1 = START - eta_0 * v_1
    theta_2 = theta_1 - eta_1 * (mu * v_1 + gradient(theta_1))
    first = (eta_0 + eta_1 * mu - eta_1 * eta_0 * slope) * q(START)
    return -(theta_2 - TARGET) * (first + eta_1 * q(theta_1))
