internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSession

/// Makes serializers of the member `serialize`, which has passed its schema.
struct SerializerReader {
    let callbacks: any CallbackFactory
    /// The longest record that the caller reads: a longer value is not kept.
    var maximumTextBytes: Int?

    /// Returns the serializers in order, and whether the caller has set a list, and so expects one.
    func serializers(
        _ json: JSON, path: String
    ) throws(RPCError) -> (serializers: [any ResponseSerializer], isList: Bool) {
        guard json.kind == .array else { return ([try serializer(json, path: path)], false) }
        var serializers: [any ResponseSerializer] = []
        for index in 0..<json.count {
            guard let element = json[index: index] else { continue }
            serializers.append(try serializer(element, path: "\(path)[\(index)]"))
        }
        return (serializers, true)
    }

    private func serializer(_ json: JSON, path: String) throws(RPCError) -> any ResponseSerializer {
        if let callback = json["callback"] { return try callbacks.serializer(callback, path: "\(path).callback") }
        let kind = (json.string ?? json["as"]?.string) ?? ""
        try Self.refuseUseless(json, kind, path: path)
        let input = try input(json, path: path)
        switch kind {
        case "data": return DataResponseSerializer(input: input)
        case "json": return JSONResponseSerializer(input: input, keepsText: true)
        case "plist": return PropertyListResponseSerializer(input: input)
        case "string": return StringResponseSerializer(encoding: Self.encoding(json["encoding"]), input: input)
        default: return UnserializedResponse()
        }
    }

    /// Refuses members that have no effect for this kind: they were meant for another one.
    private static func refuseUseless(_ json: JSON, _ kind: String, path: String) throws(RPCError) {
        if json["encoding"] != nil, kind != "string" {
            throw .invalidParams(
                path: "\(path).encoding", message: "\(kind) has no encoding", expected: "only with `as` \"string\"")
        }
        guard kind == "none", json.kind == .object, json.count > 1 else { return }
        throw .invalidParams(
            path: path, message: "the serializer none has no options", expected: "{\"as\": \"none\"}")
    }

    private func input(_ json: JSON, path: String) throws(RPCError) -> SerializerInput {
        var input = SerializerInput()
        input.maximumTextBytes = maximumTextBytes
        if let statuses = json["empty_statuses"] {
            input.emptyResponse.statuses = (0..<statuses.count).compactMap { statuses[index: $0]?.int }
        }
        if let methods = json["empty_methods"] {
            input.emptyResponse.methods = try Self.methods(methods, path: "\(path).empty_methods")
        }
        if let callback = json["preprocess"]?["callback"] {
            input.preprocessor = try callbacks.preprocessor(callback, path: "\(path).preprocess.callback")
        } else if json["preprocess"] != nil {
            input.preprocessor = XSSIPreprocessor()
        }
        return input
    }

    private static func methods(_ json: JSON, path: String) throws(RPCError) -> [HTTPMethod] {
        var methods: [HTTPMethod] = []
        for index in 0..<json.count {
            let text = json[index: index]?.string ?? ""
            guard let method = HTTPMethod(text) else {
                throw .invalidParams(
                    path: "\(path)[\(index)]", message: "not a request method: \(text.debugDescription)",
                    expected: "a token of RFC 9110 other than CONNECT, such as GET, POST or PROPFIND")
            }
            methods.append(method)
        }
        return methods
    }

    private static func encoding(_ json: JSON?) -> StringResponseSerializer.Encoding {
        guard let name = json?.string else { return .charset }
        return TextEncoding(rawValue: name).map(StringResponseSerializer.Encoding.explicit) ?? .automatic
    }
}
