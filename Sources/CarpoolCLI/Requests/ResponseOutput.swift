internal import CarpoolJSON
internal import CarpoolSystem
internal import Glibc

/// Writes a response to standard output, or to a file that is replaced atomically.
struct ResponseOutput {
    private let record: JSON

    init(_ record: JSON) { self.record = record }

    func write(to path: String?, withHead: Bool) throws(Failure) {
        // Opened first, so that a missing body is noticed before anything is written.
        let file = try openSpoolFile()
        guard let path else {
            return try Terminal.write("standard output") { () throws(SystemError) in
                try write(to: Terminal.output, withHead, file, isTerminal: Terminal.isTerminal)
            }
        }
        try Terminal.write(path) { () throws(SystemError) in
            let output = try OutputFile(path)
            try write(to: BlockingOutput(borrowing: output.descriptor.raw), withHead, file)
            try output.commit()
        }
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

    /// Writes head and body. On a terminal, unprintable characters of the head are escaped.
    private func write(
        to output: BlockingOutput, _ withHead: Bool, _ file: SpoolFile?, isTerminal: Bool = false
    ) throws(SystemError) {
        // Writes a small response in one piece: a reader such as head(1) may close the pipe after the first line.
        var bytes = withHead ? head(isTerminal: isTerminal) : []
        appendBody(to: &bytes)
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
    private func head(isTerminal: Bool) -> [UInt8] {
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

    init(_ path: String) throws(SystemError) { descriptor = try FileDescriptor.open(path, O_RDONLY) }
}
