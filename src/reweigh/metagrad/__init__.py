"""How we differentiate through the student's steps: what is recorded, the rules, the recursion."""
