internal import CarpoolHTTP
public import CarpoolSystem

/// A form as a body (RFC 7578): created when it is first sent, and reused for later attempts. A small one is created in
/// memory; the files of a larger one are read as they are sent.
public final class MultipartUpload: Uploadable {
    /// The boundary between the parts.
    public let boundary: String
    private let parts: [MultipartPart]
    /// A form of fewer bytes is created in memory.
    private let threshold: Int64
    private var made: CreatedUpload?
    /// Opens and reads the files; without one they are opened on the calling thread.
    private let worker: WorkerAccess?

    /// The default limit below which bodies are created in memory: small enough for a thousand such requests.
    public static let standardMemoryBytes: Int64 = 1 << 20
    /// The largest limit for bodies in memory: the model's own threshold.
    public static let maximumMemoryBytes: Int64 = 10_000_000
    /// The most parts of a form: each may be an open file while it is sent.
    public static let maximumParts = 256

    /// Makes a form. A given boundary must pass ``isBoundary(_:)``, and must not occur in any part.
    public init(
        _ parts: [MultipartPart], boundary: String? = nil, memoryBytes: Int64 = MultipartUpload.standardMemoryBytes,
        worker: WorkerAccess? = nil
    ) {
        self.worker = worker
        self.parts = parts
        self.boundary = boundary ?? MultipartUpload.randomBoundary()
        threshold = min(memoryBytes, MultipartUpload.maximumMemoryBytes)
    }

    /// Whether a text is valid as a boundary, also in `Content-Type` without quotes (RFC 2046, section 5.1.1).
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

    /// Whether all sources can be read again.
    public var canRepeat: Bool {
        guard case .source(let source) = made?.body else { return true }
        return source.canRestart
    }

    /// The memory of the parts that came with the form, in bytes.
    public var memoryBytes: Int {
        parts.reduce(0) { sum, part in
            if case .bytes(let bytes) = part.content { sum &+ bytes.count } else { sum }
        }
    }

    /// The form's type with the boundary, which overrides the request's (MP-02).
    public var contentType: String? { "multipart/form-data; boundary=\(boundary)" }

    /// Returns the form, created at the first call (UP-04).
    public func makeBody(
        for request: Request, completion: @escaping (Result<CreatedUpload, SessionError>) -> Void
    ) {
        if let made { return completion(.success(made)) }
        openFiles { [self] result in
            switch result {
            case .success(let files): makeBody(with: files, completion: completion)
            case .failure(let error): completion(.failure(error))
            }
        }
    }

    /// Opens the files of all parts, in order; the result is keyed by the index of the part.
    private func openFiles(then: @escaping (Result<[Int: MultipartFile.Opened], SessionError>) -> Void) {
        var files: [(index: Int, file: MultipartFile)] = []
        for (index, part) in parts.enumerated() {
            guard case .file(let path, let offset, let length) = part.content else { continue }
            let file = MultipartFile(
                path: path, offset: offset, length: length, fileName: part.fileName, givenType: part.contentType)
            files.append((index, file))
        }
        guard !files.isEmpty else { return then(.success([:])) }
        let (wanted, closer) = (files, worker?.closer)
        perform(
            {
                var opened: [Int: MultipartFile.Opened] = [:]
                do throws(SessionError) {
                    for (index, file) in wanted { opened[index] = try file.open(closer: closer) }
                } catch {
                    return .failure(error)
                }
                return .success(opened)
            }, then: then)
    }

    /// Creates the form in memory if it is small, otherwise in pieces.
    private func makeBody(
        with files: [Int: MultipartFile.Opened], completion: @escaping (Result<CreatedUpload, SessionError>) -> Void
    ) {
        let body = SegmentedBody(segments(files))
        guard let length = body.lengthBytes, length < threshold, let pieces = body.pieces else {
            let upload = CreatedUpload(body: .source(body), kind: body.mayWait ? .stream : .file)
            made = upload
            return completion(.success(upload))
        }
        let finish = { [self] (result: Result<[UInt8], SessionError>) in
            completion(
                result.map { bytes in
                    let upload = CreatedUpload(body: .bytes(bytes), kind: .data)
                    made = upload
                    return upload
                })
        }
        guard pieces.contains(where: \.isFile) else { return finish(BodyPiece.contents(of: pieces)) }
        perform({ BodyPiece.contents(of: pieces) }, then: finish)
    }

    private func perform<Value: Sendable>(
        _ work: @escaping @Sendable () -> Result<Value, SessionError>,
        then: @escaping (Result<Value, SessionError>) -> Void
    ) {
        guard let worker else { return then(work()) }
        do throws(WorkerError) {
            try worker.run(work, then: then)
        } catch {
            then(.failure(.multipartTooBusy(error)))
        }
    }

    /// Boundaries, heads and contents in turn (MP-03). No parts are no bytes (MP-12).
    private func segments(_ files: [Int: MultipartFile.Opened]) -> [BodySegment] {
        var segments: [BodySegment] = []
        for (index, part) in parts.enumerated() {
            guard let (head, content) = content(of: part, files[index]) else { continue }
            let text = segments.isEmpty ? "--\(boundary)\r\n" : "\r\n--\(boundary)\r\n"
            segments.append(.bytes(Array(text.utf8) + head))
            segments.append(content)
        }
        guard !segments.isEmpty else { return [] }
        return segments + [.bytes(Array("\r\n--\(boundary)--\r\n".utf8))]
    }

    private func content(
        of part: MultipartPart, _ opened: MultipartFile.Opened?
    ) -> (head: [UInt8], content: BodySegment)? {
        let head = part.head(fileName: part.fileName, contentType: part.contentType)
        switch part.content {
        case .bytes(let bytes): return (head, .bytes(bytes))
        case .open(let file, let offset, let length): return (head, .file(file, offset: offset, length: length))
        case .source(let source, let length): return (head, .source(source, length: length))
        case .file:
            guard let opened else { return nil }
            let file = BodyFile(
                opened.file.file, path: opened.file.path, sizeBytes: opened.file.size, worker: worker)
            return (
                part.head(fileName: opened.name, contentType: opened.contentType),
                .file(file, offset: opened.offset, length: opened.length)
            )
        }
    }
}
