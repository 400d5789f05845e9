"""For what people have already: `adapters.lightning`, `adapters.hugging_face`, `adapters.sklearn`.

The first two import frameworks that are no dependencies of this package. Others need no adapter:
`Reweigher.loss` before the framework's backward and `after_step` after its optimizer's step do.
"""
