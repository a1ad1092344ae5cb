public import CarpoolJSON

/// The id of a call: a string, a number or null, echoed byte for byte as it came.
///
/// Two ids are equal if their values are equal: `"a"` is `"\u0061"`. Numbers are compared as they are spelled, so `1`
/// and `1.0` are two.
public struct RPCID: Hashable, Sendable {
    /// The JSON text as received.
    public let bytes: [UInt8]
    /// The JSON text as the writer would put it, which is the same for all spellings of a string.
    private let canonical: [UInt8]

    /// Maximum length of an id, in bytes: a response must fit its line whatever the id is.
    static let maximumBytes = 1_024

    /// An id that is equal to any spelling of a value: for `rpc.cancel`, and for ids of this side's calls.
    /// - Returns: nil if the value is no string, number or null.
    public init?(_ value: JSON) {
        guard RPCID.allows(value) else { return nil }
        var writer = JSONWriter()
        writer.value(value)
        self.init(bytes: writer.bytes, canonical: writer.bytes)
    }

    /// The id of a message, which has been found to be a string, a number or null.
    init(_ envelope: Envelope, _ span: JSONSpan) throws(RPCError) {
        switch envelope.firstByte(span) {
        case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "t"), UInt8(ascii: "f"):
            throw .invalidRequest("an id is a string, a number or null")
        default: break
        }
        guard span.count <= RPCID.maximumBytes else {
            throw .invalidRequest("the id has more than \(RPCID.maximumBytes) bytes")
        }
        let spelling = envelope.withText(span) { Array($0) }
        // A number and null have one spelling, and so has a string of printable ASCII without escapes.
        let isPlain = spelling.allSatisfy { $0 >= 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") }
        if isPlain {
            self.init(bytes: spelling, canonical: spelling)
            return
        }
        var writer = JSONWriter()
        writer.value(try envelope.json(span))
        self.init(bytes: spelling, canonical: writer.bytes)
    }

    private init(bytes: [UInt8], canonical: [UInt8]) {
        self.bytes = bytes
        self.canonical = canonical
    }

    /// Whether JSON-RPC 2.0 §4 allows the value as an id.
    static func allows(_ value: JSON) -> Bool {
        switch value.kind {
        case .string, .integer, .real, .bigNumber, .null: true
        case .object, .array, .bool: false
        }
    }

    /// Whether two ids are the same value.
    public static func == (left: RPCID, right: RPCID) -> Bool { left.canonical == right.canonical }

    /// Hashes the value.
    public func hash(into hasher: inout Hasher) { hasher.combine(canonical) }
}

extension RPCID: CustomStringConvertible {
    /// The JSON text as received, or its beginning.
    public var description: String {
        bytes.count <= 64
            ? String(decoding: bytes, as: UTF8.self) : String(decoding: bytes.prefix(64), as: UTF8.self) + "..."
    }
}
