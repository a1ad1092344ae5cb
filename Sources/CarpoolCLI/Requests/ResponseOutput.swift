internal import CarpoolCaller
internal import CarpoolJSON
internal import CarpoolSystem
internal import Glibc

/// Writes a response to standard output, or to a file that is replaced atomically.
struct ResponseOutput {
    private let record: JSON
    private let layout: RequestArguments.Layout
    /// Whether the body is printed on a terminal as it is.
    private let isRaw: Bool

    init(_ record: JSON) {
        self.record = record
        (layout, isRaw) = (.never, false)
    }

    init(_ record: JSON, _ request: RequestArguments) {
        self.record = record
        (layout, isRaw) = (request.layout, request.isRawStream)
    }

    /// Writes to an open file or pipe.
    func write(to descriptor: Int32, _ name: String, withHead: Bool) throws(Failure) {
        let file = try openSpoolFile()
        try Terminal.write(name) { () throws(SystemError) in
            try write(to: BlockingOutput(borrowing: descriptor, isNamed: true), withHead, file)
        }
    }

    /// Writes to standard output, or to a file.
    func write(to path: String?, withHead: Bool) throws(Failure) {
        // Opened first, so that a missing body is noticed before anything is written.
        let file = try openSpoolFile()
        guard let path else {
            if Terminal.isTerminal, !isRaw { return try writeToTerminal(withHead, file) }
            return try Terminal.write("standard output") { () throws(SystemError) in
                try write(to: Terminal.output, withHead, file)
            }
        }
        try Terminal.write(path) { () throws(SystemError) in
            let output = try OutputFile(path)
            try write(to: BlockingOutput(borrowing: output.descriptor.raw, isNamed: true), withHead, file)
            try output.commit()
        }
    }

    /// Writes to a terminal: the head, and the body as far as it is text.
    private func writeToTerminal(_ withHead: Bool, _ file: SpoolFile?) throws(Failure) {
        if withHead { try Terminal.print(head(isTerminal: true)) }
        var body = TerminalBody(
            contentType: ResponseOutput.contentType(of: record), laysOut: layout != .never)
        var bytes: [UInt8] = []
        appendBody(to: &bytes)
        try Terminal.print(try body.add(bytes))
        while let file, let piece = try file.next() { try Terminal.print(try body.add(piece)) }
        try Terminal.print(body.finish())
    }

    /// The field Content-Type of an object with the member `response`; empty for none.
    static func contentType(of object: JSON) -> String {
        var type = ""
        object["response"]?["headers"]?.forEachElement { field in
            guard type.isEmpty, field[index: 0]?.string?.lowercased() == "content-type" else { return }
            type = field[index: 1]?.fieldText ?? ""
        }
        return type
    }

    private func openSpoolFile() throws(Failure) -> SpoolFile? {
        guard let path = record["body"]?["file"]?.string else { return nil }
        do throws(SystemError) {
            return try SpoolFile(path)
        } catch {
            throw Failure(
                .transferFailed, "cannot read the body: \(error)",
                hint:
                    "the daemon stores large bodies in files; run carpool where it can read the daemon's spool directory"
            )
        }
    }

    /// Writes head and body.
    private func write(
        to output: BlockingOutput, _ withHead: Bool, _ file: SpoolFile?
    ) throws(SystemError) {
        // Writes a small response in one piece: a reader such as head(1) may close the pipe after the first line.
        var bytes = withHead ? head(isTerminal: false) : []
        if layout == .always, file == nil {
            var body: [UInt8] = []
            appendBody(to: &body)
            bytes += JSONLayout(hasColors: false).text(body) ?? body
        } else {
            appendBody(to: &bytes)
        }
        if !bytes.isEmpty { try output.write(bytes) }
        if let file { try output.copy(from: file.descriptor) }
    }

    /// Appends the body, if the record contains it.
    private func appendBody(to bytes: inout [UInt8]) {
        guard let body = record["body"] else { return }
        if let text = body["text"] {
            _ = text.withUTF8 { bytes += $0 }
        } else if let base64 = body["base64"] {
            bytes += base64.withUTF8 { (try? Base64.decode($0)) ?? [] } ?? []
        } else if let json = body["json"] {
            var writer = JSONWriter()
            writer.value(json)
            bytes += writer.bytes
        }
    }

    /// Status line and fields in the form of HTTP/1.1 (RFC 9112), without a reason phrase, which HTTP/2 does not have.
    func head(isTerminal: Bool) -> [UInt8] {
        let response = record["response"]
        let version = ResponseOutput.statusLineVersion(response?["http_version"]?.string ?? "")
        var head = Array("\(version) \(response?["status"]?.int ?? 0)\r\n".utf8)
        response?["headers"]?.forEachElement { field in
            var line: [UInt8] = []
            ResponseOutput.append(field[index: 0], to: &line)
            line += Array(": ".utf8)
            ResponseOutput.append(field[index: 1], to: &line)
            head += isTerminal ? Array(PlainText.escaped(String(decoding: line, as: UTF8.self)).utf8) : line
            head += Array("\r\n".utf8)
        }
        return head + Array("\r\n".utf8)
    }

    /// The version of the status line, for the protocol's ALPN name in the record.
    private static func statusLineVersion(_ name: String) -> String {
        switch name {
        case "h2": "HTTP/2"
        case "http/1.0": "HTTP/1.0"
        default: "HTTP/1.1"
        }
    }

    /// Appends a string, or bytes in base64.
    private static func append(_ value: JSON?, to head: inout [UInt8]) {
        if value?.withUTF8({ head += $0 }) != nil { return }
        head += value?["base64"]?.withUTF8 { (try? Base64.decode($0)) ?? [] } ?? []
    }
}

/// An open file of the spool.
private final class SpoolFile {
    let descriptor: FileDescriptor

    private static let pieceBytes = 65_536

    init(_ path: String) throws(SystemError) { descriptor = try NamedPath.open(path, O_RDONLY) }

    /// The next bytes; `nil` at the end.
    func next() throws(Failure) -> [UInt8]? {
        var piece = [UInt8](repeating: 0, count: SpoolFile.pieceBytes)
        switch piece.withUnsafeMutableBytes({ Bytes.read(descriptor.raw, into: $0) }) {
        case .bytes(let count): return Array(piece[..<count])
        case .endOfFile, .wouldBlock: return nil
        case .failed(let code):
            throw Failure(.transferFailed, "cannot read the body: \(SystemError.reason(of: code))")
        }
    }
}
