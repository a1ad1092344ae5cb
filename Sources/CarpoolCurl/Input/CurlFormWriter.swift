/// Writes the parts of a form as the segments of a body.
struct CurlFormWriter {
    /// curl's boundary: dashes, and random letters and digits.
    private static let boundaryDashes = 24
    private static let boundaryLetters = 22
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)

    let escapes: Bool
    let standardInput: Int32
    /// The length; `nil` if that of a part is not known.
    private(set) var length: Int64? = 0
    private var segments: [CurlForm.Segment] = []
    private var pending: [UInt8] = []

    init(escapes: Bool, standardInput: Int32) {
        self.escapes = escapes
        self.standardInput = standardInput
    }

    /// All segments.
    mutating func finish() -> [CurlForm.Segment] {
        flush()
        return segments
    }

    private mutating func flush() {
        if !pending.isEmpty { segments.append(.bytes(pending)) }
        pending = []
    }

    private mutating func append(_ bytes: some Collection<UInt8>) {
        pending += bytes
        length = length.map { $0 + Int64(bytes.count) }
    }

    private mutating func append(_ segment: CurlForm.Segment, _ count: Int64?) {
        flush()
        segments.append(segment)
        length = count.flatMap { count in length.map { $0 + count } }
    }

    /// Writes the form itself, which has no head; returns its Content-Type.
    mutating func write(
        _ form: CurlFormPart, using generator: inout some RandomNumberGenerator
    ) throws(CurlError) -> String {
        let boundary = CurlFormWriter.boundary(using: &generator)
        try writeParts(form, boundary, isForm: CurlFormWriter.isForm(form.type ?? []), using: &generator)
        return (form.type ?? []).text + "; boundary=" + boundary.text
    }

    private static func boundary(using generator: inout some RandomNumberGenerator) -> [UInt8] {
        var boundary = [UInt8](repeating: UInt8(ascii: "-"), count: boundaryDashes)
        for _ in 0..<boundaryLetters {
            boundary.append(alphabet[Int.random(in: 0..<alphabet.count, using: &generator)])
        }
        return boundary
    }

    private mutating func writeParts(
        _ group: CurlFormPart, _ boundary: [UInt8], isForm: Bool, using generator: inout some RandomNumberGenerator
    ) throws(CurlError) {
        guard case .parts(let parts) = group.content else { return }
        append("--".utf8)
        for part in parts {
            append(boundary)
            append("\r\n".utf8)
            try write(part: part, isForm: isForm, using: &generator)
            append("\r\n--".utf8)
        }
        append(boundary)
        append("--\r\n".utf8)
    }

    private mutating func write(
        part: CurlFormPart, isForm: Bool, using generator: inout some RandomNumberGenerator
    ) throws(CurlError) {
        let head = CurlFormHead(part, isForm: isForm, escapes: escapes)
        var boundary: [UInt8] = []
        if case .parts = part.content { boundary = CurlFormWriter.boundary(using: &generator) }
        append(head.bytes(boundary: boundary))
        switch part.content {
        case .parts:
            try writeParts(part, boundary, isForm: CurlFormWriter.isForm(head.type ?? []), using: &generator)
        case .bytes(let bytes): try write(bytes, part.encoder)
        case .file(let path, let count):
            if part.encoder.isIdentity { return append(.file(path, length: count), count) }
            try write(CurlFile.read(path, standardInput: standardInput), part.encoder)
        case .standardInput(let count):
            if part.encoder.isIdentity { return append(.standardInput(length: count), count) }
            try write(CurlFile.read("-", standardInput: standardInput), part.encoder)
        }
    }

    private mutating func write(_ bytes: [UInt8], _ encoder: CurlFormPart.Encoder?) throws(CurlError) {
        guard let encoder else { return append(bytes) }
        append(try CurlFormEncoding.encode(bytes, encoder))
        // curl does not compute the length of quoted-printable.
        if encoder == .quotedPrintable, !bytes.isEmpty { length = nil }
    }

    /// Whether the parts of this type are fields of a form.
    private static func isForm(_ type: [UInt8]) -> Bool {
        let name = "multipart/form-data"
        guard type.hasPrefixIgnoringCase(name) else { return false }
        guard let next = type.dropFirst(name.utf8.count).first else { return true }
        return next.isBlank || [10, 13, UInt8(ascii: ";")].contains(next)
    }
}

extension CurlFormPart.Encoder? {
    /// Whether the content is sent as it is, so that a file need not be read before.
    fileprivate var isIdentity: Bool { self == nil || self == .binary || self == .eightBit }
}
