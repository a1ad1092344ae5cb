internal import CarpoolJSON

/// Reads the envelope of a call in its usual spelling, so that the parser is left with the parameters alone: a value of jansson costs an
/// allocation, and the envelope has four for the one that matters.
///
/// It takes a call only if the envelope is nothing but the four known members, each at most once, spelled without escapes. Everything else, and
/// with it every error, is the parser's.
struct PlainRequest {
    private let text: UnsafeRawBufferPointer
    private var position = 0
    private var id: RPCID?
    private var method: String?
    private var params: JSON?
    private var hasVersion = false

    private init(_ text: UnsafeRawBufferPointer) { self.text = text }

    /// The call, or nil if the parser must look at it.
    static func read(_ text: UnsafeRawBufferPointer) -> RPCRequest? {
        var reader = PlainRequest(text)
        return reader.read()
    }

    private mutating func read() -> RPCRequest? {
        guard take(UInt8(ascii: "{")) else { return nil }
        repeat {
            guard readMember() else { return nil }
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "}")) else { return nil }
        skipBlanks()
        guard position == text.count, hasVersion, let method else { return nil }
        return RPCRequest(id: id, method: method, params: params)
    }

    private mutating func readMember() -> Bool {
        guard let key = takeString(), take(UInt8(ascii: ":")) else { return false }
        skipBlanks()
        if PlainRequest.matches(key, "jsonrpc") { return readVersion() }
        if PlainRequest.matches(key, "id") { return readID() }
        if PlainRequest.matches(key, "method") { return readMethod() }
        if PlainRequest.matches(key, "params") { return readParams() }
        return false
    }

    private mutating func readVersion() -> Bool {
        guard !hasVersion, let version = takeString(), PlainRequest.matches(version, "2.0") else { return false }
        hasVersion = true
        return true
    }

    private mutating func readMethod() -> Bool {
        guard method == nil, let name = takeString() else { return false }
        method = String(decoding: name, as: UTF8.self)
        return true
    }

    private mutating func readID() -> Bool {
        guard id == nil else { return false }
        let start = position
        if peek() == UInt8(ascii: "\"") {
            guard takeString() != nil else { return false }
        } else {
            guard takeInteger() else { return false }
        }
        let spelling = text[start..<position]
        guard spelling.count <= RPCID.maximumBytes else { return false }
        id = RPCID(plain: Array(spelling))
        return true
    }

    private mutating func readParams() -> Bool {
        guard params == nil, position < text.count,
            let (value, byteCount) = JSON.parsePrefix(of: UnsafeRawBufferPointer(rebasing: text[position...]))
        else { return false }
        params = value
        position &+= byteCount
        return true
    }

    // MARK: Tokens

    private func peek() -> UInt8? { position < text.count ? text[position] : nil }

    private mutating func skipBlanks() {
        while let byte = peek(), byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position &+= 1 }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        skipBlanks()
        guard peek() == byte else { return false }
        position &+= 1
        return true
    }

    /// The content of a string of printable ASCII without escapes.
    private mutating func takeString() -> Slice<UnsafeRawBufferPointer>? {
        guard take(UInt8(ascii: "\"")) else { return nil }
        let start = position
        while let byte = peek(), byte != UInt8(ascii: "\"") {
            guard byte >= 0x20, byte < 0x7F, byte != UInt8(ascii: "\\") else { return nil }
            position &+= 1
        }
        let content = text[start..<position]
        return take(UInt8(ascii: "\"")) ? content : nil
    }

    /// A number without sign, fraction, exponent or leading zeros, of at most 18 digits.
    private mutating func takeInteger() -> Bool {
        let start = position
        while let byte = peek(), byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { position &+= 1 }
        let digits = position &- start
        guard digits >= 1, digits <= 18, digits == 1 || text[start] != UInt8(ascii: "0") else { return false }
        switch peek() {
        case UInt8(ascii: ","), UInt8(ascii: "}"), 0x20, 0x0A, 0x0D, 0x09: return true
        default: return false
        }
    }

    private static func matches(_ bytes: Slice<UnsafeRawBufferPointer>, _ name: StaticString) -> Bool {
        bytes.count == name.utf8CodeUnitCount
            && bytes.elementsEqual(UnsafeRawBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
    }
}
