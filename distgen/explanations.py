"""What `distgen explain CODE` says: what a diagnostic means, why distgen refuses, and what mends it.

DG1xx files and YAML, DG2xx the spec, DG3xx the spec against distrax, DG4xx formatting, DG5xx the output,
DG6xx the configuration.
"""

from __future__ import annotations

from inspect import cleandoc

_TEXTS = {
    "DG101": """
        A spec file cannot be read.

        The message says what the system answered. Check that the path is that of a regular file which you
        may read.
    """,
    "DG102": """
        A spec file is not printable UTF-8 text.

        YAML is UTF-8, and control characters, which an editor does not show, would end up in documentation.
        The message names the byte or the character; save the file as UTF-8 text without it.
    """,
    "DG103": """
        A spec file is not valid YAML.

        wrong:  summary: Beta: a distribution on (0, 1)
        right:  summary: "Beta: a distribution on (0, 1)"

        The place is where the YAML parser gave up; the mistake may stand a little before it.
    """,
    "DG104": """
        A mapping has the same key twice.

        YAML keeps one of the two values and drops the other in silence, so that a spec would not mean what
        it says.

        wrong:  loc: {constraint: real, doc: The mean, constraint: positive}
        right:  loc: {constraint: real, doc: The mean}
    """,
    "DG105": """
        A spec uses anchors, aliases, tags, merge keys or several documents.

        With them a value stands elsewhere than where it is used, or is of another type than it looks. A
        spec is plain data.

        wrong:  loc: &shared {constraint: real, doc: The mean}
        right:  loc: {constraint: real, doc: The mean}
    """,
    "DG106": """
        A spec is not a mapping.

        wrong:  - distribution: Beta
        right:  distribution: Beta
    """,
    "DG107": """
        A spec file is larger than 1 MiB, or nested more than 64 levels deep.

        One file describes one class, in a few dozen lines: this is probably another file.
    """,
    "DG108": """
        A key is not a string.

        wrong:  ? [alpha, beta]
                : {constraint: positive, doc: The exponents}
        right:  alpha: {constraint: positive, doc: The first exponent}
                beta: {constraint: positive, doc: The second exponent}
    """,
    "DG109": """
        A path that was named on the command line or in [tool.distgen] leads to no spec.

        Name a file, or a directory that holds files ending in .yaml or .yml. Hidden files and directories,
        whose names start with a dot, are not searched.
    """,
    "DG110": """
        Two spec files have the same name for messages and headers.

        Names are relative to the directory of pyproject.toml, or to the working directory; a spec outside
        of it goes by its file name alone, because output must not depend on where things lie on your
        machine. Run distgen in a directory above both files, or rename one.
    """,
    "DG201": """
        A spec has a key that the language lacks.

        The language is closed, so that a misspelt key is not ignored in silence. A comma in a text without
        quotes also makes keys: in {doc: a, b} there are two.

        wrong:  alpha: {constaint: positive, doc: The first exponent, more or less}
        right:  alpha: {constraint: positive, doc: "The first exponent, more or less"}
    """,
    "DG202": """
        A key is missing that every spec, parameter or method must have.

        wrong:  alpha: {constraint: positive}
        right:  alpha: {constraint: positive, doc: The exponent of x plus one}
    """,
    "DG203": """
        A spec uses a word that the language lacks: a constraint, a function, a default or a static.

        The words of the language are the public functions of distgen.runtime: adding one there adds the
        word.

        wrong:  alpha: {constraint: positve, doc: The exponent of x plus one}
        right:  alpha: {constraint: positive, doc: The exponent of x plus one}
    """,
    "DG204": """
        A value is of the wrong type, out of range, or an empty text.

        wrong:  event_shape: K
        right:  event_shape: [K]
    """,
    "DG205": """
        A name has the wrong form, or is a keyword of Python.

        Names become identifiers in the generated code, and their form tells what they are: classes and
        dimensions start with a capital, parameters and methods with a small letter, attributes with an
        underscore.

        wrong:  distribution: my-beta
        right:  distribution: MyBeta
    """,
    "DG206": """
        A text is not an expression: a name, or a name with names and numbers in parentheses.

        Nothing in a spec is evaluated as Python, so that there are no operators, nested calls or strings.
        What needs more is a function of distgen.runtime, called by its name.

        wrong:  support: 0 <= x <= n
        right:  support: interval(0, n)
    """,
    "DG207": """
        A spec refers to a parameter, a dimension or a dtype that it does not describe.

        wrong:  parameters: {logits: {event: [K], constraint: real, doc: The logits}}
                event_shape: [N]
        right:  parameters: {logits: {event: [K], constraint: real, doc: The logits}}
                event_shape: [K]
    """,
    "DG208": """
        Two parameters have the same name once they are finished.

        wrong:  loc: {constraint: real, doc: The mean}
                mean: {constraint: real, finished: loc, doc: The mean again}
        right:  loc: {constraint: real, doc: The mean}
                mean: {constraint: real, finished: other_loc, doc: The mean again}
    """,
    "DG209": """
        A word is used with the wrong number of arguments.

        wrong:  support: interval(low)
        right:  support: interval(low, high)
    """,
    "DG210": """
        An argument of an expression is none of the names that may stand there.

        A constraint may name parameters; a finishing function, statics and settings; a static, other
        arguments; a check, finished parameters; 'inner', statics; a derived attribute, parameters, statics
        and the attributes above it; a method, the arguments of the method as well.

        wrong:  derived: {_scale: exp(log_scael)}
        right:  derived: {_scale: exp(log_scale)}
    """,
    "DG211": """
        A method says neither or both of how it is computed.

        wrong:  mode: {because: distrax returns another dtype}
        right:  mode: {inherited: kept, because: distrax returns another dtype}
    """,
    "DG212": """
        Two specs describe classes that would be written to the same file.

        A module has the name of its class in snake case, so that Beta collides with another Beta, and
        MvNormal with MVNormal. Rename one of them where its spec names
        the class.
    """,
    "DG213": """
        The batch shape, or a size in the event shape, cannot be read from the parameters.

        It is read from a parameter that is always there: a required one, one with a default, or one of
        several alternatives of equal dimensions. An argument that may be None and has no default is no such
        parameter.

        wrong:  logits: {event: [K], constraint: real, doc: The log probabilities}
                probs: {event: [K], constraint: simplex, doc: The probabilities}
        right:  the same, and
                exactly_one_of: [logits, probs]
    """,
    "DG214": """
        An alternative under 'exactly_one_of' or 'at_most_one_of' is a parameter that is always there.

        Of alternatives one is given and the others are None: the constructor of the wrapped class must
        allow that, and a 'default' would fill them in again.

        wrong:  exactly_one_of: [loc, scale]        # for distrax.Normal, which requires both
        right:  exactly_one_of: [logits, probs]     # for distrax.Categorical
    """,
    "DG215": """
        A name in a spec would take the place of one that the generated code needs.

        These are the imports of a generated module (for classes), and the members of a generated class and
        the methods of the wrapped one (for parameters). Keep the argument's name and give the finished
        parameter another one.

        wrong:  mean: {constraint: real, doc: The mean}
        right:  mean: {constraint: real, finished: loc, doc: The mean}
    """,
    "DG216": """
        Keys of one parameter contradict each other.

        A parameter cannot require itself; 'argument_event' is 'event' with singletons ('1') beside its
        dimensions; and 'identity' is the default of a matrix.

        wrong:  scale_tri: {event: [D], default: identity, constraint: real, doc: The scale matrix}
        right:  scale_tri: {event: [D, D], default: identity, constraint: real, doc: The scale matrix}
    """,
    "DG301": """
        distrax is not installed where distgen runs, or its source cannot be read.

        distgen reads the source of the classes that specs wrap. Install distrax into the same environment.
    """,
    "DG302": """
        The class under 'wraps' is not found.

        It is looked up by its dotted name in distrax, in installed packages and below the working
        directory, without importing anything: the source must be there, as .py files.

        wrong:  wraps: distrax.Betta
        right:  wraps: distrax.Beta
    """,
    "DG303": """
        The class under 'wraps' is not of the kind that the spec says it is.

        A spec that begins with 'distribution' wraps a subclass of distrax.Distribution, one that begins with
        'bijector' a subclass of distrax.Bijector, and one that begins with 'model' a class that is neither.

        wrong:  distribution: Tanh
                wraps: distrax.Tanh
    """,
    "DG304": """
        A spec describes a parameter that the wrapped constructor lacks.

        The generated class takes the place of the wrapped one, so that its constructor has the same
        arguments.

        wrong:  wraps: distrax.Beta
                parameters: {concentration: {constraint: positive, doc: The first exponent}}
        right:  wraps: distrax.Beta
                parameters: {alpha: {constraint: positive, doc: The first exponent}}
    """,
    "DG305": """
        The wrapped constructor has an argument that the spec does not describe.

        Describe it under 'parameters': as an array with a constraint, as structure with the key 'static', or
        as an object or a function with the key 'kind'.

        missing:  dtype: {static: discrete_dtype, doc: The dtype of samples}
    """,
    "DG306": """
        The signature of the wrapped constructor or method cannot be reproduced.

        Defaults that are not literals, and *args and **kwargs of a constructor, mean something only in the
        module that defines them. Wrap a subclass that names its arguments and has literal defaults, or
        leave the method as it is inherited.
    """,
    "DG307": """
        A spec derives an attribute that the wrapped class does not store, or that is a parameter.

        wrong:  wraps: distrax.Beta
                derived: {_log_normalisation: log_beta(alpha, beta)}
        right:  wraps: distrax.Beta
                derived: {_log_normalization_constant: log_beta(alpha, beta)}
    """,
    "DG308": """
        The wrapped class stores an attribute that the spec does not account for.

        Instances of the generated class hold finished parameters only, so that inherited methods which read
        the attribute would fail. Say how it follows from the parameters.

        missing:  derived: {_log_normalization_constant: log_beta(alpha, beta)}
    """,
    "DG309": """
        A spec describes a method that the wrapped class lacks.

        wrong:  methods: {log_probs: {inherited: kept, because: distrax returns another dtype}}
        right:  methods: {log_prob: {inherited: kept, because: distrax returns another dtype}}
    """,
    "DG401": """
        ruff, which formats the generated code, is missing or of a version that distgen was not made for.

        Another version may lay code out differently, and the output must not depend on the machine. Install
        the version that the hint names into the environment that distgen runs in.
    """,
    "DG402": """
        Generated code does not compile, or breaks a rule of ruff.

        Nothing was written. Whatever the spec says, this is a bug of distgen: please report it together
        with the spec.
    """,
    "DG501": """
        A generated file was edited by hand, and the build would overwrite or remove it.

        Say what the edit says in the spec, or in a template of distgen, and undo it; or discard it with
        `distgen build --force`. `distgen build --diff` shows it.
    """,
    "DG502": """
        Something that distgen did not write stands where it would write.

        It may be your work, so that not even --force overwrites it. Move it away, or choose another output.
    """,
    "DG503": """
        The output cannot be written.

        It is not a directory, a symbolic link leads out of it, or the file system refuses. What was there
        is as it was.
    """,
    "DG504": """
        Two outputs have paths that differ in case only.

        On macOS and Windows they would be one file. Rename a class.
    """,
    "DG505": """
        The manifest in the output does not read as one, for example after a merge conflict.

        The build goes on and writes it anew. Without it, distgen does not know which files it wrote before:
        look for modules of specs that are gone, and remove them.
    """,
    "DG601": """
        [tool.distgen] in pyproject.toml has an unknown key.

        wrong:  outputs = "generated"
        right:  output = "generated"
    """,
    "DG602": """
        A value in [tool.distgen] is of the wrong type.

        wrong:  specs = "specs"
        right:  specs = ["specs"]
    """,
    "DG603": """
        pyproject.toml cannot be read as TOML.

        The message says what is wrong and where. distgen reads the nearest pyproject.toml at or above the
        working directory.
    """,
}

EXPLANATIONS: dict[str, str] = {code: cleandoc(text) for code, text in _TEXTS.items()}
