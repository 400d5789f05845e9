"""Many runs on the same terms: they are done, read back, and told apart in one table."""
