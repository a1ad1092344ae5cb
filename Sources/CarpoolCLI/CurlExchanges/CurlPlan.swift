/// A transfer of a command line: a URL after globbing, with the files that belong to it.
struct CurlPlannedTransfer {
    let operation: CurlPreparedOperation
    /// The number of the transfer in the command line, from 0.
    let number: Int
    /// The number of its URL before globbing, from 0.
    let urlNumber: Int
    /// The URL, with the queries of `--url-query` and `-G` and the name of `-T`.
    let url: String
    let output: CurlOperation.Target.Output
    /// What the patterns of the URL are, for the name of the file.
    let match: CurlGlob.Match
    /// The file of `-T`.
    let upload: String?

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

    init(_ operations: [CurlPreparedOperation]) { self.operations = operations }

    /// The next transfer; `nil` at the end.
    mutating func next() throws(CurlError) -> CurlPlannedTransfer? {
        while true {
            if let match = urls?.next() { return try planned(match) }
            if let next = uploads?.next() {
                upload = next.text
                urls = try glob(of: target).makeIterator()
                continue
            }
            guard try advance() else { return nil }
        }
    }

    /// Goes on to the next URL; returns `false` at the end.
    private mutating func advance() throws(CurlError) -> Bool {
        guard operation < operations.count else { return false }
        target += 1
        let targets = operations[operation].options.targets
        guard target < targets.count else {
            (operation, target) = (operation + 1, -1)
            return operation < operations.count
        }
        guard targets[target].url != nil else { return true }
        urlNumber += 1
        upload = nil
        if let files = targets[target].upload {
            uploads = try self.glob(files).makeIterator()
        } else {
            urls = try glob(of: target).makeIterator()
        }
        return true
    }

    private func glob(of target: Int) throws(CurlError) -> CurlGlob {
        try glob(operations[operation].options.targets[target].url ?? "")
    }

    private func glob(_ text: String) throws(CurlError) -> CurlGlob {
        operations[operation].options.request.hasNoGlobbing ? CurlGlob(literal: text) : try CurlGlob(text)
    }

    private mutating func planned(_ match: CurlGlob.Match) throws(CurlError) -> CurlPlannedTransfer {
        let operation = operations[self.operation]
        let target = operation.options.targets[self.target]
        var url = match.text
        if let upload { url = try CurlBody.url(url, upload: upload) }
        url = try CurlBody.url(url, query: operation.query)
        defer { number += 1 }
        let output: CurlOperation.Target.Output =
            target.output ?? (operation.options.response.usesRemoteNames ? .remoteName : .standard)
        return CurlPlannedTransfer(
            operation: operation, number: number, urlNumber: urlNumber, url: url, output: output, match: match,
            upload: upload)
    }
}
