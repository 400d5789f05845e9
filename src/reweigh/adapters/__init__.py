"""For loops that a framework owns: `adapters.lightning` and `adapters.hugging_face`.

Each imports its framework, which is no dependency of this package. Others need no adapter:
`Reweigher.loss` before the framework's backward and `after_step` after its optimizer's step do.
"""
