/// The positions of parts of a well-formed text: the members or elements of its outermost value, and the values that a
/// tree cannot hold or need not hold.
public struct JSONOutline: Sendable {
    /// A member of the outermost object, or an element of the outermost array (then the name is empty).
    public struct Part: Sendable {
        /// The name as it is spelled, without its quotes.
        public let name: JSONSpan
        /// The value as it is spelled.
        public let value: JSONSpan
        /// Whether the name is spelled with escapes.
        let isNameEscaped: Bool

        /// Whether the member has that name, which needs no escape.
        public func isNamed(_ name: StaticString, in text: UnsafeRawBufferPointer) -> Bool {
            guard isNameEscaped || self.name.count == name.utf8CodeUnitCount else { return false }
            let content = self.name.bytes(of: text)
            return isNameEscaped ? JSONString.decode(content).withUnsafeBytes(name.matches) : name.matches(content)
        }
    }

    /// A value that stays text until its parts are read: one of ``largeBytes`` or more, or an object with a duplicate
    /// name, which a tree cannot represent.
    struct Large: Sendable {
        let span: JSONSpan
        /// The number of members or elements; a duplicate name counts once.
        let count: UInt32
        /// A duplicate name in the object.
        let duplicateName: JSONSpan?
    }

    /// Minimum size of a value that stays text. From about this size on, copying it costs less than a tree of it.
    static let largeBytes = 4_096
    /// Maximum number of parts of the outermost value that are stored: a batch may have 100 messages, and a message has
    /// five members.
    public static let maximumParts = 128

    private var first = InlineArray<5, Part>(
        repeating: Part(name: JSONSpan(0, 0), value: JSONSpan(0, 0), isNameEscaped: false))
    private var more: [Part] = []
    /// The number of parts of the outermost value, including those over ``maximumParts``.
    public private(set) var partCount = 0
    /// The position of the outermost value.
    public internal(set) var root = JSONSpan(0, 0)

    /// The numbers whose spelling an `Int64` does not preserve, in order.
    var numbers: [JSONSpan] = []
    /// A duplicate name in the outermost object.
    public internal(set) var duplicateName: JSONSpan?
    /// The large values, each after those inside it. The outermost value is not among them.
    var large: [Large] = []
    /// The offsets of `\u0000` and `\u0001` in names, in order.
    var nameEscapes: [UInt32] = []
    /// Whether a name contains U+0000.
    var hasNullInName = false
    /// Whether a byte is above 0x7F.
    var hasNonASCII = false

    init() {}

    /// The bytes of the text outside of large strings: an upper bound for trees of its parts.
    public func structureBytes(of text: [UInt8]) -> Int {
        large.reduce(root.count) { text[Int($1.span.start)] == UInt8(ascii: "\"") ? $0 &- $1.span.count : $0 }
    }

    /// Whether jansson can parse the text unchanged.
    var isPlain: Bool { numbers.isEmpty && large.isEmpty && !hasNullInName }

    /// A duplicate name in the object at this position.
    func duplicateName(of span: JSONSpan) -> JSONSpan? {
        span == root ? duplicateName : large.first { $0.span == span }?.duplicateName
    }

    /// The part at an index below ``partCount``; `nil` for those that are not stored.
    public func part(_ index: Int) -> Part? {
        guard index >= 0, index < min(partCount, JSONOutline.maximumParts) else { return nil }
        return index < 5 ? first[index] : more[index &- 5]
    }

    mutating func append(_ part: Part) {
        if partCount < 5 { first[partCount] = part } else if partCount < JSONOutline.maximumParts { more.append(part) }
        partCount &+= 1
    }
}
