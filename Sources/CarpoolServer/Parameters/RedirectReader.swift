internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSession

/// Makes a redirect handler of what a caller wrote under `redirect`, which has passed its schema.
struct RedirectReader {
    /// Makes the deciders that ask a client.
    let callbacks: any CallbackFactory

    func redirect(_ json: JSON, path: String) throws(RPCError) -> RedirectHandler {
        if json.string != nil { return json.isString("do_not_follow") ? .doNotFollow : .follow }
        var handler = RedirectHandler(try behaviour(json, path: path))
        if let value = json["max_hops"]?.int { handler.maximumHops = value }
        if let value = json["keep_method"]?.bool { handler.keepsMethod = value }
        if let value = json["keep_authorization"]?.string.flatMap(RedirectHandler.Authorization.init(rawValue:)) {
            handler.authorization = value
        }
        if let value = json["allow_downgrade"]?.bool { handler.allowsDowngrade = value }
        handler.strippedFields = try RedirectReader.names(json["strip_headers"], path: "\(path).strip_headers")
        handler.keptFields = try RedirectReader.names(json["keep_headers"], path: "\(path).keep_headers")
        if let name = handler.keptFields.first(where: { $0.lowercased() == "authorization" }) {
            throw .invalidParams(
                path: "\(path).keep_headers", message: "\(name) cannot be listed here",
                expected: "keep_authorization: \"always\"")
        }
        return handler
    }

    private func behaviour(_ json: JSON, path: String) throws(RPCError) -> RedirectHandler.Behaviour {
        guard let callback = json["callback"] else {
            guard let modify = json["modify"] else { return .follow }
            return .modify(try RedirectReader.modification(modify, path: "\(path).modify"))
        }
        guard json["modify"] == nil else {
            throw .invalidParams(
                path: path, message: "modify and callback cannot be combined", expected: "one of them")
        }
        return .ask(try callbacks.redirectDecider(callback, path: "\(path).callback"))
    }

    private static func modification(_ json: JSON, path: String) throws(RPCError) -> RedirectModification {
        var modification = RedirectModification()
        if let url = json["url"]?.string {
            do throws(TransportError) {
                modification.url = try HTTPURL(url)
            } catch {
                throw .invalidParams(
                    path: "\(path).url", message: error.message, expected: "a whole URL, with http:// or https://")
            }
        }
        if let method = json["method"]?.string {
            modification.method = try RequestParametersDecoder.method(method, path: "\(path).method")
        }
        if let headers = json["set_headers"] {
            modification.fields = try RequestParametersDecoder.fields(headers, path: "\(path).set_headers")
            guard !modification.fields.contains(where: { $0.hasName("host") }) else {
                throw .invalidParams(
                    path: "\(path).set_headers", message: "Host is what the URL says", expected: "no Host; set url")
            }
        }
        modification.removedFields = try names(json["remove_headers"], path: "\(path).remove_headers")
        modification.dropsBody = json["drop_body"]?.bool ?? false
        return modification
    }

    private static func names(_ json: JSON?, path: String) throws(RPCError) -> [String] {
        var names: [String] = []
        guard let json else { return names }
        for i in 0..<json.count {
            let name = json[index: i]?.string ?? ""
            // A name that no field can have is a mistake that would otherwise go unseen.
            guard (try? HTTPField(name: name, value: "")) != nil else {
                throw .invalidParams(
                    path: "\(path)[\(i)]", message: "not a header that a request may have: \(name.debugDescription)",
                    expected: "the name of a header, such as X-Api-Key")
            }
            names.append(name)
        }
        return names
    }
}
