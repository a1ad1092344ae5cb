/// A transfer of a command line: a URL after globbing, with the files that belong to it.
struct CurlPlannedTransfer {
    let operation: CurlPreparedOperation
    /// The number of the transfer in the command line, from 0.
    let number: Int
    /// The number of its URL before globbing, from 0.
    let urlNumber: Int
    /// Whether it is the first one of its operation.
    let isFirst: Bool
    /// The URL, with the queries of `--url-query` and `-G` and the name of `-T`.
    let url: String
    let output: CurlOperation.Target.Output
    /// What the patterns of the URL are, for the name of the file.
    let match: CurlGlob.Match
    /// The file of `-T`.
    let upload: String?
    /// Why the transfer fails before it begins: its URL takes no name or query.
    let failure: CurlError?

    /// What is sent.
    var body: CurlMethod.Body { upload == nil ? operation.body : .upload }
}

/// The transfers of a command line, made one by one: a pattern may stand for millions.
struct CurlPlan {
    private let operations: [CurlPreparedOperation]
    private var operation = 0
    private var target = -1
    private var number = 0
    private var urlNumber = -1
    private var uploads: CurlGlob.Iterator?
    private var urls: CurlGlob.Iterator?
    private var upload: String?
    /// The kind of the requests of the present operation.
    private var kind: CurlRequestKind?
    private var isFirst = true
    private var hasWarned = false
    /// Warnings that ``next()`` has caused.
    private(set) var warnings: [String] = []

    init(_ operations: [CurlPreparedOperation]) { self.operations = operations }

    /// The next transfer; `nil` at the end.
    mutating func next() throws(CurlError) -> CurlPlannedTransfer? {
        warnings = []
        while true {
            if let match = urls?.next() { return try planned(match) }
            if let next = uploads?.next() {
                upload = next.text
                urls = try urlsOfTarget().makeIterator()
                continue
            }
            guard try advance() else { return nil }
        }
    }

    /// Goes on to the next URL; returns `false` at the end.
    private mutating func advance() throws(CurlError) -> Bool {
        guard operation < operations.count else { return false }
        target += 1
        let options = operations[operation].options
        if target == 0 { try begin(options) }
        guard target < options.targets.count else {
            (operation, target) = (operation + 1, -1)
            return operation < operations.count
        }
        urlNumber += 1
        guard options.targets[target].url != nil else {
            if !hasWarned { warnings.append("Got more output options than URLs") }
            hasWarned = true
            return true
        }
        upload = nil
        if let files = options.targets[target].upload, !files.isEmpty {
            uploads = try glob(files, isLiteral: options.request.hasNoGlobbing).makeIterator()
        } else {
            urls = try urlsOfTarget().makeIterator()
        }
        return true
    }

    /// Begins an operation: it has a URL, and one kind of requests.
    private mutating func begin(_ options: CurlOperation) throws(CurlError) {
        guard options.hasURL else { throw CurlError.noURL }
        kind = options.request.kind
        isFirst = true
        guard !options.request.data.isEmpty else { return }
        try select(options.request.isGet ? options.request.isHead ? .head : .get : .post)
    }

    private mutating func select(_ kind: CurlRequestKind) throws(CurlError) {
        guard let warning = self.kind.select(kind) else { return }
        throw CurlError(exitCode: CurlExitCode.failedInitialization, message: warning, form: .warning)
    }

    private func urlsOfTarget() throws(CurlError) -> CurlGlob {
        let options = operations[operation].options
        let target = options.targets[self.target]
        return try glob(target.url ?? "", isLiteral: options.request.hasNoGlobbing || target.isLiteral)
    }

    private func glob(_ text: String, isLiteral: Bool) throws(CurlError) -> CurlGlob {
        isLiteral ? CurlGlob(literal: text) : try CurlGlob(text)
    }

    private mutating func planned(_ match: CurlGlob.Match) throws(CurlError) -> CurlPlannedTransfer {
        let operation = operations[self.operation]
        let target = operation.options.targets[self.target]
        if upload != nil { try select(.put) }
        var (url, failure) = (match.text, CurlError?.none)
        do throws(CurlError) {
            if let upload { url = try CurlBody.url(url, upload: upload) }
            url = try CurlBody.url(url, query: operation.query)
        } catch {
            failure = error
        }
        defer { (number, isFirst) = (number + 1, false) }
        return CurlPlannedTransfer(
            operation: operation, number: number, urlNumber: urlNumber, isFirst: isFirst, url: url,
            output: target.output ?? target.defaultOutput, match: match, upload: upload, failure: failure)
    }
}
