public import CarpoolJSON

/// The id of a call: a string, a number or null, echoed byte for byte as it came.
///
/// Two ids are the same if they are the same value: `"a"` is `"\u0061"`. Numbers are compared as they are written in JSON,
/// so `1` and `1.0` are two.
public struct RPCID: Hashable, Sendable {
    /// The JSON text as received.
    public let bytes: [UInt8]
    /// The JSON text as the writer would put it, which is the same for all spellings of a string.
    private let canonical: [UInt8]

    /// The longest id, in bytes: an answer must fit its line whatever the id is.
    static let maximumBytes = 1_024

    /// An id that is equal to any spelling of a value: for `rpc.cancel`, and for ids of our own.
    /// - Returns: nil if the value is no string, number or null.
    public init?(_ value: JSON) {
        guard RPCID.allows(value) else { return nil }
        var writer = JSONWriter()
        writer.value(value)
        self.init(bytes: writer.bytes, canonical: writer.bytes)
    }

    /// An id of a value, with its text.
    init(_ value: JSON, spelled text: UnsafeRawBufferPointer) {
        var writer = JSONWriter()
        writer.value(value)
        // Nearly always equal; then one array serves for both.
        let isCanonical = writer.bytes.elementsEqual(text)
        self.init(bytes: isCanonical ? writer.bytes : Array(text), canonical: writer.bytes)
    }

    /// An id in the spelling that the writer would give it: an integer, or a string of printable ASCII without escapes.
    init(plain bytes: [UInt8]) {
        self.init(bytes: bytes, canonical: bytes)
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
