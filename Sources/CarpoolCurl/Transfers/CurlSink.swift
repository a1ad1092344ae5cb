internal import CarpoolExchange
internal import CarpoolSystem
internal import Glibc

/// Where a response goes: its heads (`-i`, `-D`) and its body (`-o`, `-O`, `-J`, standard output).
final class CurlSink {
    private let transfer: CurlPlannedTransfer
    private let options: CurlResponseOptions
    private let console: CurlConsole
    /// The open file of the body; `nil` for standard output and before the first byte.
    private(set) var file: BodyOutput?
    private var headFile: BodyOutput?
    /// The name that Content-Disposition gives.
    private var disposition: String?
    /// The bytes of the body that were written.
    private(set) var bodyBytes: Int64 = 0
    /// All bytes that were written to the output, with those of heads.
    private var writtenBytes: Int64 = 0
    /// Whether bytes are added to the file (`-C`).
    var appends = false
    private var mover = PipeMover()

    /// curl writes no larger pieces.
    private static let callbackBytes = 16_384

    init(_ transfer: CurlPlannedTransfer, _ console: CurlConsole) {
        self.transfer = transfer
        self.console = console
        options = transfer.operation.options.response
    }

    /// The path of the file that the body goes to; `nil` for standard output.
    var path: String? { file?.path ?? (try? name()) ?? nil }

    /// Whether heads go to the output of the body.
    private var printsHeads: Bool { options.includesHead || transfer.operation.options.request.isHead }

    /// Whether the body goes to standard output, because no file is named.
    var isStandardOutput: Bool {
        if case .standard = transfer.output { return true }
        return false
    }

    /// The name of the file; `nil` for standard output.
    private func name() throws(CurlError) -> String? {
        let name: String
        switch transfer.output {
        case .standard: return nil
        case .file(let template):
            if template == "-" { return nil }
            name = try transfer.match.name(template)
        case .remoteName:
            if let disposition {
                name = disposition
            } else {
                name = try CurlFileName.remote(transfer.url) ?? CurlFileName.fallback
            }
        }
        return CurlFileName.path(name, in: options.directory)
    }

    /// Fails if the pattern of `-o` or the URL (`-O`) has no name for the file. Returns a warning about a URL without a
    /// file.
    func checkName() throws(CurlError) -> [String] {
        _ = try name()
        guard transfer.output == .remoteName, try CurlFileName.remote(transfer.url) == nil else { return [] }
        return [CurlFileName.fallbackWarning]
    }

    /// Opens the file of `-D`; the first transfer of an operation empties it. `-` is standard output, and `%` standard
    /// error.
    func openHeadFile(isFirst: Bool) throws(CurlError) {
        guard let path = options.headFile, path != "-", path != "%" else { return }
        if options.createsDirectories { try CurlOutputFile.createFolders(of: path) }
        do throws(CurlError) {
            headFile = try CurlOutputFile.open(path, isFirst ? .truncating : .appending)
        } catch {
            guard error.exitCode != CurlExitCode.timedOut else { throw error }
            var failure = CurlError(CurlExitCode.writeError)
            failure.reasons = ["Failed to open \(path)"]
            throw failure
        }
    }

    /// Opens the file of the body, if there is one. The error names the bytes that cannot be written.
    private func open(for count: Int) throws(CurlError) {
        guard file == nil, let path = try name() else { return }
        if options.createsDirectories { try CurlOutputFile.createFolders(of: path) }
        let isDisposition = disposition != nil
        do throws(CurlError) {
            file = try CurlOutputFile.open(
                path,
                appends
                    ? .appending : CurlOutputFile.opening(clobbers: options.clobbers, isDisposition: isDisposition))
        } catch {
            guard error.exitCode != CurlExitCode.timedOut else { throw error }
            throw CurlError(
                exitCode: error.exitCode, message: "client returned ERROR on write of \(count) bytes",
                warnings: error.warnings)
        }
    }

    /// Opens the file of a download that goes on: curl does so before the first request.
    func openResumed() throws(CurlError) {
        guard appends else { return }
        do throws(CurlError) {
            try open(for: 0)
        } catch {
            guard error.exitCode != CurlExitCode.timedOut else { throw CurlError(error.exitCode) }
            var failure = CurlError(CurlExitCode.writeError)
            failure.warnings = error.warnings
            throw failure
        }
    }

    /// Takes the name of a field Content-Disposition (`-J`), and opens its file. The first name counts.
    func take(disposition value: String) throws(CurlError) {
        guard disposition == nil else { return }
        disposition = CurlFileName.disposition(value)
        guard disposition != nil else { return }
        // The length is that of the line.
        try open(for: "Content-Disposition: \r\n".utf8.count + SystemPath.bytes(of: value).count)
    }

    /// Writes a head where heads go.
    func write(head bytes: [UInt8]) throws(CurlError) {
        if options.headFile == "-", printsHeads, isStandardOutput {
            // Line by line, as curl does: each appears twice.
            for line in bytes.split(separator: 10, omittingEmptySubsequences: false).dropLast() {
                try write(line + [10] + line + [10])
            }
            return
        }
        if let headFile {
            try CurlSink.write(bytes, to: headFile.descriptor)
        } else if options.headFile == "-" {
            try print(bytes, isFlushed: true)
        } else if options.headFile == "%" {
            console.write(bytes)
        }
        if printsHeads { try write(bytes) }
    }

    /// Writes bytes of the body, whose length is known or not: the error names as many as curl would have written.
    func write(body bytes: [UInt8], of length: Int64? = nil) throws(CurlError) {
        try checkTerminal(bytes)
        try write(bytes, of: length, isFlushed: options.isUnbuffered)
        bodyBytes += Int64(bytes.count)
    }

    /// Writes to the output of the body. A head waits there for the first bytes of the body, also with `-N`.
    private func write(_ bytes: [UInt8], of length: Int64? = nil, isFlushed: Bool = false) throws(CurlError) {
        try open(for: bytes.count)
        if let file {
            try CurlSink.write(bytes, to: file.descriptor, of: length)
        } else {
            try print(bytes, of: length, isFlushed: isFlushed)
        }
        writtenBytes += Int64(bytes.count)
    }

    private static func write(_ bytes: [UInt8], to fd: Int32, of length: Int64? = nil) throws(CurlError) {
        do throws(SystemError) {
            try BlockingOutput(borrowing: fd, isNamed: true).write(bytes)
        } catch {
            guard error.code != ETIME else { throw CurlError(CurlExitCode.timedOut) }
            let count = passed(bytes, length)
            throw error.code == EPIPE || count >= CurlStandardOutput.blockBytes ? failure(count) : failureAtEnd
        }
    }

    /// Writes to standard output.
    private func print(_ bytes: [UInt8], of length: Int64? = nil, isFlushed: Bool) throws(CurlError) {
        let kept = console.output.keptBytes
        do throws(SystemError) {
            try console.output.write(bytes, isFlushed: isFlushed)
        } catch {
            let count = CurlSink.passed(bytes, length)
            guard kept + count < CurlStandardOutput.blockBytes else { throw CurlSink.failure(count, behind: kept) }
            throw CurlError(
                exitCode: CurlExitCode.writeError, message: "client returned ERROR on write of \(count) bytes")
        }
    }

    /// How many bytes curl would have passed on, of a body of this length.
    private static func passed(_ bytes: [UInt8], _ length: Int64?) -> Int {
        min(max(bytes.count, length.map { Int(clamping: $0) } ?? 0), callbackBytes)
    }

    /// Bytes that are not written, behind some that were kept: as many as make a block were taken.
    private static func failure(_ count: Int, behind kept: Int = 0) -> CurlError {
        let taken = kept == 0 ? 0 : CurlStandardOutput.blockBytes - kept
        return CurlError(
            exitCode: CurlExitCode.writeError,
            message: "Failure writing output to destination, passed \(count) returned \(taken)")
    }

    /// Bytes that were kept and are not written at the end, of which curl prints nothing.
    private static let failureAtEnd = CurlError(exitCode: CurlExitCode.writeError, message: "", form: .silent)

    /// Writes what standard output has kept, unless the body has a file.
    private func flush() throws(CurlError) {
        guard file == nil else { return }
        do throws(SystemError) { try console.output.flush() } catch { throw CurlSink.failureAtEnd }
    }

    /// Binary bytes are not written to a terminal, unless the output is named.
    private func checkTerminal(_ bytes: [UInt8]) throws(CurlError) {
        guard bodyBytes == 0, isStandardOutput, bytes.prefix(2_000).contains(0), console.output.isTerminal else {
            return
        }
        throw CurlError(
            exitCode: CurlExitCode.writeError,
            message: "client returned ERROR on write of \(bytes.count) bytes",
            warnings: [
                "Binary output can mess up your terminal. Use \"--output -\" to tell curl to output it to your "
                    + "terminal anyway, or consider \"--output <FILE>\" to save to a file."
            ])
    }

    /// Moves what a pipe has to the output, at most so many bytes; returns how many, 0 at its end.
    func move(from pipe: Int32, atMost limit: Int, _ trace: CurlTrace) throws(CurlError) -> Int {
        let isFirstOnTerminal = bodyBytes == 0 && isStandardOutput && console.output.isTerminal
        var target: Int32?
        if !isFirstOnTerminal, !trace.hasBodies {
            try open(for: min(limit, CurlSink.callbackBytes))
            if let file {
                target = file.descriptor
            } else {
                let count = min(limit, Bytes.available(inPipe: pipe))
                guard count > 0 else { return 0 }
                target = try standardOutput(for: count)
            }
        }
        switch take(from: pipe, to: target, atMost: limit) {
        case .success(.moved(let count)):
            bodyBytes += Int64(count)
            writtenBytes += Int64(count)
            return count
        case .success(.bytes(let bytes)):
            trace.received(body: bytes)
            try write(body: bytes)
            return bytes.count
        case .success(.end):
            trace.received(body: [])
            return 0
        case .failure: throw CurlSink.failure(min(limit, CurlSink.callbackBytes))
        }
    }

    /// Standard output, if the kernel may move so many bytes to it; `nil` if they are kept.
    private func standardOutput(for count: Int) throws(CurlError) -> Int32? {
        let kept = console.output.keptBytes
        guard !console.output.keeps(count) || options.isUnbuffered && kept == 0 else { return nil }
        do throws(SystemError) { try console.output.flush() } catch {
            throw CurlSink.failure(min(count, CurlSink.callbackBytes), behind: kept)
        }
        return STDOUT_FILENO
    }

    private func take(
        from pipe: Int32, to output: Int32?, atMost limit: Int
    ) -> Result<PipeMover.Piece, SystemError> {
        Result { () throws(SystemError) in try mover.next(from: pipe, to: output, atMost: limit) }
    }

    /// Reads and drops what a pipe has; returns how many bytes, 0 at its end.
    func drop(from pipe: Int32) -> Int {
        guard case .success(.bytes(let bytes)) = take(from: pipe, to: nil, atMost: .max) else { return 0 }
        return bytes.count
    }

    /// Forgets what an attempt has written, as far as the output is a file (`--retry`).
    func rewind(to offset: Int64) {
        try? flush()
        guard let file, writtenBytes > 0 else { return }
        file.rewind(to: offset)
        writtenBytes = 0
        bodyBytes = 0
    }

    /// Ends a transfer: an empty response makes an empty file.
    func finish(_ error: CurlError?, makesFile: Bool) throws(CurlError) {
        if error == nil, makesFile, !transfer.operation.options.request.isHead { try open(for: 0) }
        if error != nil, options.removesOnError, let path = file?.path {
            _ = SystemPath.withBytes(path) { unlink($0) }
        }
        try flush()
    }
}
