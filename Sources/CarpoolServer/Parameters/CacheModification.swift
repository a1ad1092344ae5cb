internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolSession

/// The changes to a response that is stored: `set_headers`, `remove_headers`, `ttl_ms`, and in the answer of a client
/// `body` and `storage`.
struct CacheModification {
    /// The changes.
    let decision: CacheProposal.Decision

    /// Reads an object that has passed its schema; other members do not matter.
    /// - Throws: `JSONError` with the place of the first one that no response can have.
    init(_ json: JSON, path: String) throws(JSONError) {
        var fields: [HTTPField] = []
        try json["set_headers"]?.forEachMember { (name: String, value: JSON) throws(JSONError) in
            do throws(HTTPField.Refusal) {
                fields.append(try HTTPField(name: name, value: value.string ?? ""))
            } catch {
                throw .refused(
                    error.reason, path: "\(path).set_headers.\(name)", expected: "a field that a response may have")
            }
        }
        let removed = (0..<(json["remove_headers"]?.count ?? 0)).compactMap {
            json["remove_headers"]?[index: $0]?.string
        }
        decision = .modify(
            setting: fields, removing: removed, body: try CacheModification.body(json["body"], path: path),
            ttlMilliseconds: json["ttl_ms"]?.int,
            storage: json["storage"]?.string.flatMap(CacheProposal.Storage.init(rawValue:)))
    }

    private static func body(_ json: JSON?, path: String) throws(JSONError) -> [UInt8]? {
        guard let json else { return nil }
        if let text = json["text"]?.withUTF8({ Array($0) }) { return text }
        if let base64 = json["base64"] { return try Base64Text.decode(base64, path: "\(path).body.base64") }
        var writer = JSONWriter()
        if let value = json["json"] { writer.value(value) }
        return writer.bytes
    }
}
