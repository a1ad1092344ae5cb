internal import CarpoolSystem

/// A command line of curl while it is read.
struct CurlCommandLine {
    var invocation = CurlInvocation()
    /// The options since the last `--next`.
    var operation = CurlOperation()
    /// Warnings, in order.
    var warnings: [String] = []
    /// What is wrong with the configuration file of the user, which ends nothing.
    var remarks: [String] = []
    var variables = CurlVariables()
    /// The first option that only the real curl has, as it was written.
    var realOption: String?
    /// `-h`, `-V` and the like end the reading.
    var answer: Answer?
    let environment: Environment
    /// The files of options that were read and cannot be read again, such as standard input.
    var consumed: [CurlConsumedInput] = []
    /// How deep configuration files are nested.
    var depth = 0
    /// How many targets of the operation have a URL, an output or an upload: the first ones.
    private var filled = Filled()
    /// How many groups of a form are open (`-F 'name=('`).
    private var openGroups = 0

    init(_ environment: Environment) { self.environment = environment }

    private struct Filled {
        var urls = 0
        var outputs = 0
        var uploads = 0
    }

    enum Answer: Equatable {
        case help(String)
        case version
        case manual
    }

    /// Sets the kind of the request.
    mutating func select(_ kind: CurlRequestKind) throws(CurlError) {
        if let warning = operation.request.kind.select(kind) { throw CurlValueError.badUse(warning, isWarning: true) }
    }

    /// Adds a URL to the first target that has none.
    mutating func add(url: String, isFromFile: Bool = false) throws(CurlError) {
        makeTarget(filled.urls)
        operation.targets[filled.urls].url = url
        if isFromFile {
            operation.targets[filled.urls].isLiteral = true
            operation.targets[filled.urls].defaultOutput = .remoteName
        }
        filled.urls += 1
        if operation.request.etagSave != nil || operation.request.etagCompare != nil { try checkSingleURL() }
    }

    /// Fails with more than one URL, for which the options about ETags are not.
    func checkSingleURL() throws(CurlError) {
        if filled.urls > 1 { throw CurlValueError.badUse("The etag options only work on a single URL") }
    }

    /// Adds the output of the next URL.
    mutating func add(output: CurlOperation.Target.Output) {
        makeTarget(filled.outputs)
        operation.targets[filled.outputs].output = output
        filled.outputs += 1
    }

    /// Adds the upload to the next URL.
    mutating func add(upload: String) {
        makeTarget(filled.uploads)
        operation.targets[filled.uploads].upload = upload
        filled.uploads += 1
    }

    private mutating func makeTarget(_ index: Int) {
        guard index == operation.targets.count else { return }
        operation.targets.append(CurlOperation.Target())
        if operation.response.usesRemoteNames { operation.targets[index].defaultOutput = .remoteName }
    }

    /// Adds a field of a form, or a piece of one.
    mutating func add(form argument: CurlFormArgument) throws(CurlError) {
        switch try CurlFormField(argument, openGroups: openGroups).role {
        case .opensGroup: openGroups += 1
        case .closesGroup: openGroups -= 1
        case .literal, .files, .value: break
        }
        try select(.form)
        operation.request.form.append(argument)
    }

    /// Begins the options after `--next`. In a file of options one without a URL before it means nothing.
    mutating func begin() throws(CurlError) {
        guard filled.urls > 0 else {
            if depth > 0 { return }
            throw CurlValueError.badUse("missing URL before --next")
        }
        finishOperation()
    }

    /// Ends the options of an operation.
    mutating func finishOperation() {
        invocation.operations.append(operation)
        operation = CurlOperation()
        filled = Filled()
        openGroups = 0
    }

    /// Notes an option that only the real curl has.
    mutating func needsReal(_ option: String) { if realOption == nil { realOption = option } }
}

/// Bytes that were read from an input that cannot be read again.
struct CurlConsumedInput: Equatable {
    /// The descriptor that they were read from.
    let descriptor: Int32
    let bytes: [UInt8]
}
