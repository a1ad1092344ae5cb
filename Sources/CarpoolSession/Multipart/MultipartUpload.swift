internal import CarpoolHTTP

/// A form as a body (RFC 7578): made when it is first sent, and sent again as it was made. A small one is made in memory; of a larger one the
/// files are read as they are sent.
public final class MultipartUpload: Uploadable {
    /// What stands between the parts.
    public let boundary: String
    private let parts: [MultipartPart]
    /// A form of fewer bytes is made in memory.
    private let threshold: Int64
    private var made: CreatedUpload?

    /// Bodies of fewer bytes are made in memory unless somebody says otherwise: what a thousand such requests take is still no burden.
    public static let standardMemoryBytes: Int64 = 1 << 20
    /// The most bytes that may be made in memory: the model's own threshold.
    public static let maximumMemoryBytes: Int64 = 10_000_000
    /// The most parts of a form: each may be an open file while it is sent.
    public static let maximumParts = 256

    /// Makes a form. A boundary of one's own must pass ``isBoundary(_:)``, and no part may hold it.
    public init(
        _ parts: [MultipartPart], boundary: String? = nil, memoryBytes: Int64 = MultipartUpload.standardMemoryBytes
    ) {
        self.parts = parts
        self.boundary = boundary ?? MultipartUpload.randomBoundary()
        threshold = min(memoryBytes, MultipartUpload.maximumMemoryBytes)
    }

    /// Whether a text can stand between parts, and in `Content-Type` without quotes (RFC 2046, section 5.1.1).
    public static func isBoundary(_ text: String) -> Bool {
        (1...70).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "'"), UInt8(ascii: "+"), UInt8(ascii: "_"),
                    UInt8(ascii: "-"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
    }

    /// 64 random bits: no part holds them by chance (MP-01).
    private static func randomBoundary() -> String {
        let digits = String(UInt64.random(in: 0 ... .max), radix: 16)
        return "carpoold.multipart." + String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// Nothing that was read is gone.
    public var canRepeat: Bool {
        guard case .source(let source) = made?.body else { return true }
        return source.canRestart
    }

    /// The parts that came with the form.
    public var memoryBytes: Int {
        parts.reduce(0) { sum, part in
            if case .bytes(let bytes) = part.content { sum &+ bytes.count } else { sum }
        }
    }

    /// The form's type with the boundary, whatever the request says (MP-02).
    public var contentType: String? { "multipart/form-data; boundary=\(boundary)" }

    /// Gives the form, made at the first call (UP-04).
    public func makeBody(
        for request: Request, completion: @escaping (Result<CreatedUpload, SessionError>) -> Void
    ) {
        do throws(SessionError) { completion(.success(try encode())) } catch { completion(.failure(error)) }
    }

    func encode() throws(SessionError) -> CreatedUpload {
        if let made { return made }
        let body = SegmentedBody(try segments())
        let upload: CreatedUpload
        if let length = body.lengthBytes, length < threshold, !body.mayWait {
            upload = CreatedUpload(body: .bytes(try body.contents()), kind: .data)
        } else {
            upload = CreatedUpload(body: .source(body), kind: body.mayWait ? .stream : .file)
        }
        made = upload
        return upload
    }

    /// Boundaries, heads and contents in turn (MP-03). No parts are no bytes (MP-12).
    private func segments() throws(SessionError) -> [SegmentedBody.Segment] {
        var segments: [SegmentedBody.Segment] = []
        var text = ""
        for part in parts {
            let (head, content) = try MultipartUpload.open(part)
            text += segments.isEmpty ? "--\(boundary)\r\n" : "\r\n--\(boundary)\r\n"
            segments.append(.bytes(Array((text + head).utf8)))
            segments.append(content)
            text = ""
        }
        guard !segments.isEmpty else { return [] }
        return segments + [.bytes(Array("\r\n--\(boundary)--\r\n".utf8))]
    }

    private static func open(
        _ part: MultipartPart
    ) throws(SessionError) -> (head: String, content: SegmentedBody.Segment) {
        switch part.content {
        case .bytes(let bytes):
            return (part.head(fileName: part.fileName, contentType: part.contentType), .bytes(bytes))
        case .open(let file, let offset, let length):
            return (
                part.head(fileName: part.fileName, contentType: part.contentType),
                .file(file, offset: offset, length: length)
            )
        case .source(let source, let length):
            return (part.head(fileName: part.fileName, contentType: part.contentType), .source(source, length: length))
        case .file(let path, let offset, let length):
            let file = try MultipartFile(path, of: part)
            return (
                part.head(fileName: file.name, contentType: file.contentType),
                try file.open(offset: offset, length: length)
            )
        }
    }
}
