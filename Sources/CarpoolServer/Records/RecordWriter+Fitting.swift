internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolSession

// Whether a record fits a line.
extension RecordWriter {
    /// The longest form of a byte in a text.
    private static let bytesPerByte = 6
    /// Upper bound for a record without its body, fields, URL and values.
    private static let usualRest = 8_192
    /// Size of a field besides its bytes, in its longest form: two values in base64.
    private static let fieldRest = 64

    /// Whether the body's encoded form is too large for a record.
    func mustSpill(_ request: Request, maximumEncodedBytes: Int) -> Bool {
        guard case .memory(let bytes) = request.body.storage, !bytes.isEmpty else { return false }
        guard bytes.count > maximumEncodedBytes / RecordWriter.bytesPerByte &- 2 else { return false }
        let encoded = bytes.withUnsafeBytes { bytes in
            JSONWriter.isUTF8(bytes) ? JSONWriter.encodedLength(ofText: bytes) : Base64.encodedLength(of: bytes.count)
        }
        return encoded > maximumEncodedBytes
    }

    /// Whether the body has to be in a file for the record to fit a line: because it is too large itself, or because of
    /// what is beside it.
    func mustSpill(
        _ request: Request, maximumEncodedBytes: Int, recordBytes: Int, results: [SerializedResponse]?,
        level: RecordLevel
    ) -> Bool {
        guard request.isFinished, case .memory(let bytes) = request.body.storage, !bytes.isEmpty else { return false }
        if mustSpill(request, maximumEncodedBytes: maximumEncodedBytes) { return true }
        let isPlain = level != .full && results == nil && request.results.isEmpty && request.error == nil
        guard !isPlain || !isSurelyShort(request, bytes.count, recordBytes) else { return false }
        var writer = JSONWriter()
        return !fits(request, results, level, recordBytes, in: &writer)
    }

    private func isSurelyShort(_ request: Request, _ bodyBytes: Int, _ limit: Int) -> Bool {
        guard request.attempts.count == 1, request.attempts[0].hops.count <= 1, request.parameters.cookies == nil,
            !request.parameters.needsCertificates
        else { return false }
        let (fields, fieldBytes) = (request.response?.fields.count ?? 0, request.response?.fields.byteCount ?? 0)
        let headBytes =
            request.heads.map { $0.bytes.count &+ $0.trailers.count &+ $0.connectBytes.count } ?? 0
        let parts =
            bodyBytes &+ headBytes &+ fieldBytes &+ fields &* RecordWriter.fieldRest
            &+ request.parameters.url.utf8.count &* 2
        return parts &* RecordWriter.bytesPerByte &+ RecordWriter.usualRest < limit
    }
}
