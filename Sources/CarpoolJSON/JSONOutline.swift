/// Where the parts of a well-formed text stand that the parser of trees cannot hold or need not hold, and the parts of
/// its outermost value.
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

    /// A value that stays text until its parts are asked for: one of ``largeBytes`` or more, or an object in which a
    /// name stands twice, which a tree could not keep.
    struct Large: Sendable {
        let span: JSONSpan
        /// How many members or elements it has; a name that stands twice counts once.
        let count: UInt32
        /// A name that stands twice in the object.
        let duplicateName: JSONSpan?
    }

    /// From so many bytes on a value stays text. Copying it costs less than a tree of it from about here on.
    static let largeBytes = 4_096
    /// The most parts of the outermost value that are kept: a batch may have 100 messages, and a message has five
    /// members.
    public static let maximumParts = 128

    private var first = InlineArray<5, Part>(
        repeating: Part(name: JSONSpan(0, 0), value: JSONSpan(0, 0), isNameEscaped: false))
    private var more: [Part] = []
    /// How many parts the outermost value has, those over ``maximumParts`` included.
    public private(set) var partCount = 0
    /// Where the outermost value stands.
    public internal(set) var root = JSONSpan(0, 0)

    /// The numbers whose spelling an integer of 64 bits does not keep, in order.
    var numbers: [JSONSpan] = []
    /// A name that stands twice in the outermost object.
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

    /// Whether the parser of trees takes the text as it is.
    var isPlain: Bool { numbers.isEmpty && large.isEmpty && !hasNullInName }

    /// A name that stands twice in the object that stands there.
    func duplicateName(of span: JSONSpan) -> JSONSpan? {
        span == root ? duplicateName : large.first { $0.span == span }?.duplicateName
    }

    /// The part at an index below ``partCount``; `nil` for those that are not kept.
    public func part(_ index: Int) -> Part? {
        guard index >= 0, index < min(partCount, JSONOutline.maximumParts) else { return nil }
        return index < 5 ? first[index] : more[index &- 5]
    }

    mutating func append(_ part: Part) {
        if partCount < 5 { first[partCount] = part } else if partCount < JSONOutline.maximumParts { more.append(part) }
        partCount &+= 1
    }
}
