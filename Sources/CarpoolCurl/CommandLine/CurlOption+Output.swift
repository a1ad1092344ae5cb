/// The options about curl itself, and about files and what is printed.
extension CurlOption {
    static let general: [CurlOption] = [
        .text("help", "h", "<category>", "Print the options of a category, or all of them") { line, text in
            line.answer = .help(text)
        },
        .set("version", "V", "Print the version") { if $1 { $0.answer = .version } },
        .set("manual", "M", "Print the manual of the real curl") { if $1 { $0.answer = .manual } },
        .set("disable", "q", "Read no .curlrc, as the first option") { _, _ in },
        CurlOption(
            name: "config", letter: "K", argument: "<file>", help: "Read options from a file", effect: .configuration,
            isFile: true),
        .word("url", nil, "<url/file>", "A URL, or @ and a file of URLs") { (line, text) throws(CurlError) in
            try line.add(urls: text)
        },
        .action("next", ":", "Begin a group of options for the URLs that follow") { (line) throws(CurlError) in
            try line.begin()
        },
        .text("variable", nil, "<[%]name=text/@file>", "Set a variable") { (line, text) throws(CurlError) in
            try line.variables.set(text, &line.consumed, line.environment, &line.warnings)
        },
        .set("fail-early", nil, "End with the first transfer that fails") { $0.invocation.global.failsEarly = $1 },
        .set("parallel", "Z", "Transfer in parallel") { $0.invocation.global.isParallel = $1 },
        .text("parallel-max", nil, "<number>", "The most transfers in parallel") { (line, text) throws(CurlError) in
            let number = try CurlNumber.positive(text)
            line.invocation.global.maximumParallel = (1...300).contains(number) ? number : 50
        },
        .text("rate", nil, "<rate>", "The most transfers in a time, such as 2/s") { (line, text) throws(CurlError) in
            line.invocation.global.rateMilliseconds = try CurlNumber.rate(text)
        },
        .action("no-fallback", nil, "Never run the real curl (an option of Carpool)") {
            $0.invocation.global.forbidsFallback = true
        },
    ]

    static let output: [CurlOption] = [
        .file("output", "o", "<file>", "Write the body to a file") { $0.add(output: .file($1)) },
        .set("remote-name", "O", "Write the body to a file with the name of the URL") { line, isOn in
            // Without -O for all URLs there is nothing to turn off.
            guard isOn || line.operation.response.usesRemoteNames else { return }
            line.add(output: isOn ? .remoteName : .standard)
        },
        .set("suppress-connect-headers", nil, "Do not show the heads of a proxy's answers to CONNECT") {
            $0.operation.response.suppressesConnectHeads = $1
        },
        .set("remote-name-all", nil, "As -O, for all URLs") { $0.operation.response.usesRemoteNames = $1 },
        .flag("remote-header-name", "J", "Use the name that the server gives") { (line, isOn) throws(CurlError) in
            line.operation.response.usesContentDisposition = isOn
        },
        .word("output-dir", nil, "<dir>", "The folder of files that are written") {
            $0.operation.response.directory = $1
        },
        .set("create-dirs", nil, "Make the folders of files that are written") {
            $0.operation.response.createsDirectories = $1
        },
        .text("create-file-mode", nil, "<mode>", "The mode of files of other protocols") {
            (line, text) throws(CurlError) in
            line.operation.response.fileMode = try CurlNumber.mode(text)
        },
        .flag("clobber", nil, "Overwrite files that exist (--no-clobber: do not)") { (line, isOn) throws(CurlError) in
            if !isOn, line.operation.request.resume != nil {
                throw CurlValueError.badUse("--continue-at is mutually exclusive with --no-clobber")
            }
            line.operation.response.clobbers = isOn
        },
        .flag("remove-on-error", nil, "Remove the file of a transfer that fails") { (line, isOn) throws(CurlError) in
            if isOn, line.operation.request.resume != nil {
                throw CurlValueError.badUse("--continue-at is mutually exclusive with --remove-on-error")
            }
            line.operation.response.removesOnError = isOn
        },
        .set("remote-time", "R", "Give the file the time of the remote one") { $0.operation.response.keepsTime = $1 },
        .file("dump-header", "D", "<file>", "Write the header fields to a file") {
            $0.operation.response.headFile = $1
        },
        .set("show-headers", "i", "Print the header fields before the body") {
            $0.operation.response.includesHead = $1
        },
        .set("include", nil, "The same") { $0.operation.response.includesHead = $1 },
        .set("silent", "s", "Print no progress and no errors") { $0.invocation.global.isSilent = $1 },
        .set("show-error", "S", "Print errors in spite of -s") { $0.invocation.global.showsErrors = $1 },
        .set("progress-meter", nil, "Show the progress (--no-progress-meter: do not)") {
            $0.invocation.global.hidesProgress = !$1
        },
        .set("progress-bar", "#", "Show the progress as a bar") { $0.invocation.global.hasProgressBar = $1 },
        .file("stderr", nil, "<file>", "Write messages to a file", allowsBlank: true) {
            $0.invocation.global.errorFile = $1
        },
        .set("buffer", nil, "Write in large pieces (-N, --no-buffer: at once)") {
            $0.operation.response.isUnbuffered = !$1
        },
        .action("no-buffer", "N", "Write bytes as soon as they arrive") { $0.operation.response.isUnbuffered = true },
        .text("write-out", "w", "<format>", "Print a text after the transfer") { (line, text) throws(CurlError) in
            line.operation.response.writeOut = try line.data(text, stripsLineEnds: true)
        },
        .set("verbose", "v", "Print what is sent and received") {
            // As in curl, --trace-time counts only after it.
            $0.invocation.global.tracesTime = false
            $0.setTrace($1 ? .verbose : .none)
        },
        .file("trace", nil, "<file>", "Write what is sent and received to a file, with bytes") {
            $0.setTrace(.hexadecimal($1))
        },
        .file("trace-ascii", nil, "<file>", "Write what is sent and received to a file") { $0.setTrace(.ascii($1)) },
        .set("trace-time", nil, "Print the time with -v and --trace") { $0.invocation.global.tracesTime = $1 },
    ]
}

extension CurlCommandLine {
    fileprivate mutating func setTrace(_ trace: CurlGlobalOptions.Trace) { invocation.global.trace = trace }

    /// A text, or the file that it names after `@`, which must be readable.
    mutating func data(_ text: String, stripsLineEnds: Bool) throws(CurlError) -> CurlRequestOptions.Data {
        guard text.hasPrefix("@") else { return .text(text) }
        let path = String(text.dropFirst())
        try CurlOptionFile.checkReadable(path)
        return .file(path, stripsLineEnds: stripsLineEnds)
    }

    /// Adds the URL of `--url`, or those of the file that it names after `@`.
    fileprivate mutating func add(urls text: String) throws(CurlError) {
        guard text.hasPrefix("@") else { return try add(url: text) }
        let bytes = try CurlOptionFile.bytes(String(text.dropFirst()), &consumed)
        for line in bytes.split(separator: 10) {
            guard let first = line.first(where: { !$0.isBlank }), first != UInt8(ascii: "#") else { continue }
            try add(url: line.text, isFromFile: true)
        }
    }
}
