import CJansson

/// Owns one tree; every `JSON` view of it keeps it alive.
final class JSONDocument {
    let root: UnsafeMutablePointer<json_t>
    /// The text of the values that the tree only refers to; `nil` if there are none.
    let source: JSONSource?
    /// A duplicate name in the text of the outermost object; the tree has the last of its values.
    let duplicateName: String?
    /// The trees of large values that were read, by their index.
    private var parts: [Int: JSONDocument] = [:]

    private init(root: UnsafeMutablePointer<json_t>, source: JSONSource?, duplicateName: String?) {
        self.root = root
        self.source = source
        self.duplicateName = duplicateName
    }

    deinit { json_decref(root) }

    /// The tree of a value in a text that has been read.
    static func make(
        _ span: JSONSpan, of text: UnsafeRawBufferPointer, _ outline: JSONOutline, owned: () -> [UInt8]
    ) throws(JSONError) -> JSONDocument {
        let duplicateName = outline.duplicateName(of: span).map { JSONString.name(of: $0.bytes(of: text)) }
        if outline.isPlain {
            guard let root = JSONSource.load(span.bytes(of: text)) else { throw outOfMemory }
            return JSONDocument(root: root, source: nil, duplicateName: duplicateName)
        }
        let source = JSONSource(owned(), outline)
        guard let root = source.load(span) else { throw outOfMemory }
        return JSONDocument(root: root, source: source, duplicateName: duplicateName)
    }

    private static let outOfMemory = JSONError(.outOfMemory, "there is no memory for the value")

    /// The tree of a large array or object that this tree refers to. A string has no parts, and stays text.
    func part(_ node: UnsafeMutablePointer<json_t>) -> JSONDocument? {
        guard let source, case .large(let index) = JSONSource.place(of: node) else { return nil }
        guard firstByte(of: node) != UInt8(ascii: "\"") else { return nil }
        if let known = parts[index] { return known }
        let large = source.outline.large[index]
        guard let root = source.load(large.span) else { return nil }
        let name = large.duplicateName.map { span in
            source.text.withUnsafeBytes { JSONString.name(of: span.bytes(of: $0)) }
        }
        let part = JSONDocument(root: root, source: source, duplicateName: name)
        parts[index] = part
        return part
    }

    /// Frees the trees of large values. They are parsed again when they are read.
    func freeParts() { parts = [:] }

    /// Calls the body with the text of a value that the tree only refers to.
    func withText<Result, Failure: Error>(
        of node: UnsafeMutablePointer<json_t>, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        guard let source else { return nil }
        let span = source.span(of: node)
        return try source.text.withBytes { (text) throws(Failure) in try body(span.bytes(of: text)) }
    }

    /// The first byte of the text of a value that the tree only refers to: it identifies the kind.
    func firstByte(of node: UnsafeMutablePointer<json_t>) -> UInt8 {
        guard let source else { return 0 }
        return source.text[Int(source.span(of: node).start)]
    }

    /// The number of members or elements of a large value.
    func count(of node: UnsafeMutablePointer<json_t>) -> Int {
        guard let source, case .large(let index) = JSONSource.place(of: node) else { return 0 }
        return Int(source.outline.large[index].count)
    }
}
