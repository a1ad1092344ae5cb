internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolSession

/// Bodies and requests as clients see them in callbacks.
enum CallbackBody {
    /// Writes bytes as text or base64, if the encoded form has at most so many bytes; writes the size in any case.
    static func write(_ bytes: [UInt8], atMost limit: Int, to writer: inout JSONWriter) {
        writer.beginObject()
        bytes.withUnsafeBytes { bytes in
            // Both forms are at least as long as the bytes are.
            guard bytes.count <= limit else { return }
            if JSONWriter.isUTF8(bytes) {
                guard JSONWriter.encodedLength(ofText: bytes) <= limit else { return }
                writer.key("text")
                writer.string(utf8: bytes)
            } else if Base64.encodedLength(of: bytes.count) <= limit {
                writer.key("base64")
                writer.base64(bytes)
            }
        }
        writer.member("size_bytes", bytes.count)
        writer.endObject()
    }

    /// A response's body: the bytes, or the file that they are in.
    static func write(_ body: ResponseBody, atMost limit: Int, to writer: inout JSONWriter) {
        switch body.storage {
        case .memory(let bytes): write(bytes, atMost: limit, to: &writer)
        case .file(let file):
            writer.beginObject()
            writer.member("file", file.path)
            writer.member("size_bytes", body.count)
            writer.endObject()
        }
    }

    /// A request: method, URL, fields in order, and its body.
    static func write(
        _ sent: TransportRequest, of request: Request, _ detail: CallbackQuestion.Detail, to writer: inout JSONWriter
    ) {
        let url = sent.url.description
        var isWhole = url.utf8.count <= detail.head.urlBytes
        writer.beginObject()
        writer.member("method", sent.method.rawValue)
        writer.member("url", TruncatedText.of(url, bytes: detail.head.urlBytes))
        writer.key("headers")
        writer.beginArray()
        let start = writer.count
        for field in request.shown(sent.fields) {
            let before = writer.count
            writer.beginArray()
            writer.string(field.name)
            writer.string(field.value)
            writer.endArray()
            guard writer.count - start > detail.head.headerBytes else { continue }
            writer.rewind(to: before)
            isWhole = false
            break
        }
        writer.endArray()
        switch sent.body {
        case .none: break
        case .bytes(let bytes):
            writer.key("body")
            write(bytes, atMost: detail.bodyBytes, to: &writer)
        case .file, .source:
            writer.key("body")
            writer.beginObject()
            writer.member("size_bytes", sent.body.lengthBytes)
            writer.endObject()
        }
        if !isWhole { writer.member("truncated", true) }
        writer.endObject()
    }
}
