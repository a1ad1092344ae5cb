internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolSession

/// The changes to a request that a client has answered: `method`, `url`, `headers`, `set_headers`, `remove_headers`,
/// `body`.
struct RequestChange {
    private let json: JSON
    private let hidden: HiddenFields

    /// Takes an answer that has passed its schema; other members do not matter.
    /// - Parameter hidden: the fields of the request whose values the client does not know.
    init(_ json: JSON, hidden: HiddenFields) {
        self.json = json
        self.hidden = hidden
    }

    /// The request with the changes.
    /// - Throws: `JSONError` with the place of the first one that no request can have.
    func applied(to request: TransportRequest) throws(JSONError) -> TransportRequest {
        var changed = request
        if let text = json["method"]?.string {
            guard let method = HTTPMethod(text) else {
                throw .refused("no request method", path: "result.method", expected: "a token other than CONNECT")
            }
            changed.method = method
        }
        if let text = json["url"]?.string {
            changed.url = try url(text)
            // It belonged to the authority of the old URL.
            changed.fields.removeAll { $0.isNamed("host") }
        }
        try changeFields(of: &changed)
        if let body = json["body"] { changed.body = .bytes(try bytes(of: body)) }
        return changed
    }

    private func url(_ text: String) throws(JSONError) -> HTTPURL {
        do throws(TransportError) {
            return try HTTPURL(text)
        } catch {
            throw .refused(error.message, path: "result.url", expected: "an absolute http or https URL")
        }
    }

    private func bytes(of body: JSON) throws(JSONError) -> [UInt8] {
        if let text = body["text"]?.withUTF8({ Array($0) }) { return text }
        if let base64 = body["base64"] { return try Base64Text.decode(base64, path: "result.body.base64") }
        var writer = JSONWriter()
        if let value = body["json"] { writer.value(value) }
        return writer.bytes
    }

    // MARK: Fields

    private func changeFields(of request: inout TransportRequest) throws(JSONError) {
        if let headers = json["headers"] { request.fields = try fields(headers) }
        for index in 0..<(json["remove_headers"]?.count ?? 0) {
            guard let name = json["remove_headers"]?[index: index]?.string else { continue }
            request.fields.removeAll { $0.hasName(name) }
        }
        try json["set_headers"]?.forEachMember { (name: String, value: JSON) throws(JSONError) in
            var hidden = hidden
            let new = try field(name, value, path: "result.set_headers", &hidden)
            request.fields.removeAll { $0.hasName(name) }
            request.fields.append(new)
        }
        guard request.fields.lazy.filter({ $0.isNamed("host") }).count < 2 else {
            throw .refused("there is more than one Host", path: "result", expected: "one Host at most")
        }
    }

    /// Fields from an object, whose values are strings or lists of strings, or from a list of pairs.
    private func fields(_ headers: JSON) throws(JSONError) -> [HTTPField] {
        let path = "result.headers"
        var fields: [HTTPField] = []
        var hidden = hidden
        try headers.forEachElement { pair throws(JSONError) in
            guard let name = pair[index: 0]?.string, let value = pair[index: 1] else { return }
            fields.append(try field(name, value, path: path, &hidden))
        }
        try headers.forEachMember { (name: String, value: JSON) throws(JSONError) in
            if value.kind == .string { return fields.append(try field(name, value, path: path, &hidden)) }
            try value.forEachElement { value throws(JSONError) in
                fields.append(try field(name, value, path: path, &hidden))
            }
        }
        return fields
    }

    private func field(
        _ name: String, _ value: JSON, path: String, _ hidden: inout HiddenFields
    ) throws(JSONError) -> HTTPField {
        if let own = hidden.take(name, value.string ?? "") { return own }
        do throws(HTTPField.Refusal) {
            return try HTTPField(name: name, value: value.string ?? "")
        } catch {
            throw .refused(error.description, path: path, expected: "header fields that a client may send")
        }
    }
}
