internal import CarpoolJSON
internal import CarpoolSystem
internal import Glibc

/// The response on its way out of a record: to standard output, or to a file that is replaced as a whole.
struct ResponseOutput {
    private let record: JSON

    init(_ record: JSON) { self.record = record }

    func write(to path: String?, withHead: Bool) throws(Failure) {
        // Opened first: a body that has gone must not be noticed when half of the output is written.
        let file = try openSpoolFile()
        guard let path else {
            return try Terminal.write("standard output") { () throws(SystemError) in
                try write(to: Terminal.output, withHead, file, isForPeople: Terminal.isForPeople)
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
                hint: "the daemon keeps large bodies in files; carpool must run where it sees them")
        }
    }

    /// Escapes what is not printable in the head, if people read it; never in the body.
    private func write(
        to output: BlockingOutput, _ withHead: Bool, _ file: SpoolFile?, isForPeople: Bool = false
    ) throws(SystemError) {
        // Head and body in one piece where both are small: a reader such as head(1) may leave after the first.
        var bytes = withHead ? head(isForPeople: isForPeople) : []
        appendBody(to: &bytes)
        if !bytes.isEmpty { try output.write(bytes) }
        if let file { try output.copy(from: file.descriptor) }
    }

    /// The body, if the record has it.
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

    /// Status line and fields as in HTTP/1.1 (RFC 9112), whatever version was spoken; without a reason, which HTTP/2 does not have.
    private func head(isForPeople: Bool) -> [UInt8] {
        let response = record["response"]
        let version = ResponseOutput.statusLineVersion(response?["http_version"]?.string ?? "")
        var head = Array("\(version) \(response?["status"]?.int ?? 0)\r\n".utf8)
        response?["headers"]?.forEachElement { field in
            var line: [UInt8] = []
            ResponseOutput.append(field[index: 0], to: &line)
            line += Array(": ".utf8)
            ResponseOutput.append(field[index: 1], to: &line)
            head += isForPeople ? Array(PlainText.escaped(String(decoding: line, as: UTF8.self)).utf8) : line
            head += Array("\r\n".utf8)
        }
        return head + Array("\r\n".utf8)
    }

    /// How a status line writes the version, of which the record has the protocol's name in ALPN.
    private static func statusLineVersion(_ name: String) -> String {
        switch name {
        case "h2": "HTTP/2"
        case "http/1.0": "HTTP/1.0"
        default: "HTTP/1.1"
        }
    }

    /// A text, or bytes that are none.
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
