internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSession

/// Reads `parameters` and `encoding` of a request, which have passed their schema.
struct EncodingReader {
    /// Where the two members stand, for refusals.
    var path = "params"

    /// The parameters; `nil` if there are none (PE-02).
    func parameters(_ json: JSON?) throws(RPCError) -> StructuredValue? {
        guard let json, !json.isNull else { return nil }
        do throws(JSONError) {
            return try StructuredValue(json, path: "\(path).parameters")
        } catch {
            throw .invalidParams(error)
        }
    }

    /// How they are encoded: the form with every default if nothing is said.
    func encoding(_ json: JSON?) throws(RPCError) -> ParameterEncoding {
        guard let json else { return .form }
        let name = json.string
        if name == "json" { return .json(JSONParameterEncoder()) }
        if name == "plist" { return .propertyList(.xml) }
        if let options = json["json"] {
            return .json(
                JSONParameterEncoder(
                    pretty: options["pretty"]?.bool ?? false, sortedKeys: options["sorted_keys"]?.bool ?? false))
        }
        if let options = json["plist"] {
            return .propertyList(options["format"]?.string.flatMap(PropertyListFormat.init(rawValue:)) ?? .xml)
        }
        guard let options = json["form"] else { return .form }
        let destination = options["destination"]?.string.flatMap(FormDestination.init(rawValue:))
        return .form(try form(options), destination: destination ?? .methodDependent)
    }

    private func form(_ options: JSON) throws(RPCError) -> URLEncodedFormEncoder {
        var encoder = URLEncodedFormEncoder()
        typealias Form = URLEncodedFormEncoder
        if let sort = options["sort"]?.string.flatMap(Form.Sort.init(rawValue:)) { encoder.sort = sort }
        if let array = options["array"]?.string.flatMap(array) { encoder.array = array }
        if let bool = options["bool"]?.string.flatMap(Form.BoolEncoding.init(rawValue:)) { encoder.bool = bool }
        if options["data"]?.isString("deferred_to_data") == true { encoder.data = .deferredToData }
        if let date = options["date"] { encoder.date = try self.date(date) }
        if let key = options["key"]?.string.flatMap(key) { encoder.key = key }
        if options["key_path"]?.isString("dots") == true { encoder.keyPath = .dots }
        if let null = options["nil"]?.string.flatMap(null) { encoder.null = null }
        if options["space"]?.isString("plus_replaced") == true { encoder.space = .plusReplaced }
        if let text = options["allowed_characters"]?.string { encoder.allowedCharacters = try allowed(text) }
        return encoder
    }

    private func array(_ name: String) -> URLEncodedFormEncoder.ArrayEncoding? {
        switch name {
        case "brackets": .brackets
        case "no_brackets": .noBrackets
        case "index_in_brackets": .indexInBrackets
        case "comma": .comma
        default: nil
        }
    }

    private func key(_ name: String) -> URLEncodedFormEncoder.KeyEncoding? {
        switch name {
        case "use_default_keys": .useDefaultKeys
        case "snake_case": .snakeCase
        case "kebab_case": .kebabCase
        case "capitalized": .capitalized
        case "uppercased": .uppercased
        case "lowercased": .lowercased
        default: nil
        }
    }

    private func null(_ name: String) -> URLEncodedFormEncoder.NilEncoding? {
        switch name {
        case "drop_key": .dropKey
        case "drop_value": .dropValue
        case "null": .null
        default: nil
        }
    }

    private func date(_ json: JSON) throws(RPCError) -> URLEncodedFormEncoder.DateEncoding {
        switch json.string {
        case "seconds_since_1970": return .secondsSince1970
        case "milliseconds_since_1970": return .millisecondsSince1970
        case "iso8601": return .iso8601
        default: break
        }
        guard let pattern = json["formatted"]?.string else { return .deferredToDate }
        guard let format = DateFormat(pattern) else {
            throw .invalidParams(
                path: "\(path).encoding.form.date.formatted", message: "a percent sign is followed by no known letter",
                expected: "text with %Y %m %d %H %M %S %L %f %j %s %F %T and %%")
        }
        return .formatted(format)
    }

    private func allowed(_ text: String) throws(RPCError) -> AllowedCharacters {
        guard text.unicodeScalars.allSatisfy(AllowedCharacters.isPossible) else {
            throw .invalidParams(
                path: "\(path).encoding.form.allowed_characters",
                message: "it has characters that a URL's query cannot hold",
                expected: "printable ASCII without blank and #")
        }
        return AllowedCharacters(besidesAlphanumerics: text)
    }
}
