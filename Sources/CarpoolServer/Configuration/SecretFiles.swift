internal import CarpoolJSON
internal import CarpoolSession

/// Replaces each `{"file": PATH}` in the place of a secret by the content of the file.
struct SecretFiles {
    /// The configuration with the secrets.
    private(set) var resolved: [UInt8] = []
    /// The configuration with the mark of hidden values instead.
    private(set) var shown: [UInt8] = []
    /// Names of the request fields that have a secret of a file, in lower case.
    private(set) var fields: Set<String> = []
    private let path: String

    /// The request field that a secret becomes part of.
    private enum Field {
        /// The one that the member of an object is named after.
        case member
        /// The one that an element of a list of pairs names.
        case pair
        /// The one that the member `name` beside it names.
        case name
        /// `Authorization`.
        case authorization
        /// None: the secret is sent in a body.
        case none
    }

    /// The places of secrets. `*` is any member, `[]` any element of a list.
    private static let places: [(components: [String], field: Field)] = [
        (["headers", "*"], .member), (["headers", "*", "[]"], .member), (["headers", "[]", "[1]"], .pair),
        (["redirect", "modify", "set_headers", "*"], .member),
        (["redirect", "modify", "set_headers", "*", "[]"], .member),
        (["redirect", "modify", "set_headers", "[]", "[1]"], .pair),
        (["client_certificate", "password"], .none),
        (["proxy", "all", "password"], .none), (["proxy", "http", "password"], .none),
        (["proxy", "https", "password"], .none), (["credentials", "[]", "password"], .none),
        (["interceptor", "[]", "set_header", "value"], .name),
        (["interceptor", "[]", "basic_auth", "password"], .authorization),
        (["interceptor", "[]", "bearer", "token"], .authorization),
        (["interceptor", "[]", "oauth2", "client_secret"], .none),
        (["interceptor", "[]", "oauth2", "password"], .none),
        (["interceptor", "[]", "oauth2", "parameters", "*"], .none),
        (["interceptor", "[]", "oauth2", "parameters", "*", "[]"], .none),
        (["interceptor", "[]", "oauth2", "credential", "access_token"], .authorization),
        (["interceptor", "[]", "oauth2", "credential", "refresh_token"], .authorization),
        (["interceptor", "[]", "oauth2", "headers", "*"], .member),
    ]

    /// The two texts while they are written.
    private struct Writers: ~Copyable {
        var resolved = JSONWriter()
        var shown = JSONWriter()
    }

    /// - Parameter path: the place of the configuration, for errors.
    init(path: String) { self.path = path }

    /// Reads the files that a configuration names in the places of secrets.
    mutating func resolve(_ json: JSON, from files: inout ConfigurationFiles) throws(JSONError) {
        var writers = Writers()
        try write(json, in: nil, at: [], &files, to: &writers)
        (resolved, shown) = (writers.resolved.bytes, writers.shown.bytes)
    }

    private mutating func write(
        _ json: JSON, in parent: JSON?, at components: [String], _ files: inout ConfigurationFiles,
        to writers: inout Writers
    ) throws(JSONError) {
        if json.kind == .object, let field = SecretFiles.field(at: components) {
            let secret = try read(json, at: components, &files)
            if let name = SecretFiles.name(of: field, at: components, in: parent) { fields.insert(name.lowercased()) }
            writers.resolved.string(secret)
            writers.shown.string(Redaction.mark)
            return
        }
        // Nothing below has a place of its own.
        guard SecretFiles.places.contains(where: { SecretFiles.matches($0.components, components, isPrefix: true) })
        else {
            writers.resolved.value(json)
            writers.shown.value(json)
            return
        }
        try writeParts(of: json, at: components, &files, to: &writers)
    }

    private mutating func writeParts(
        of json: JSON, at components: [String], _ files: inout ConfigurationFiles, to writers: inout Writers
    ) throws(JSONError) {
        switch json.kind {
        case .object:
            if let name = json.duplicateName {
                throw .refused("stands twice", path: text(components + [name]), expected: "each name once")
            }
            writers.resolved.beginObject()
            writers.shown.beginObject()
            try json.forEachMember { (name: String, value: JSON) throws(JSONError) in
                writers.resolved.key(name)
                writers.shown.key(name)
                try write(value, in: json, at: components + [name], &files, to: &writers)
            }
            writers.resolved.endObject()
            writers.shown.endObject()
        case .array:
            writers.resolved.beginArray()
            writers.shown.beginArray()
            for index in 0..<json.count {
                guard let element = json[index: index] else { continue }
                try write(element, in: json, at: components + ["[\(index)]"], &files, to: &writers)
            }
            writers.resolved.endArray()
            writers.shown.endArray()
        default:
            writers.resolved.value(json)
            writers.shown.value(json)
        }
    }

    private func read(
        _ json: JSON, at components: [String], _ files: inout ConfigurationFiles
    ) throws(JSONError) -> String {
        let place = text(components)
        guard json.count == 1, json.duplicateName == nil, let file = json["file"]?.string else {
            throw .refused("is no file of a secret", path: place, expected: "a string, or {\"file\": PATH}")
        }
        do throws(ConfigurationFiles.Refusal) {
            return try files.secret(at: file)
        } catch {
            throw .refused(error.message, path: "\(place).file", expected: error.expected)
        }
    }

    private func text(_ components: [String]) -> String {
        components.reduce(path) { $1.hasPrefix("[") ? $0 + $1 : "\($0).\($1.prefix(64))" }
    }

    private static func field(at components: [String]) -> Field? {
        places.first { matches($0.components, components, isPrefix: false) }?.field
    }

    private static func name(of field: Field, at components: [String], in parent: JSON?) -> String? {
        switch field {
        case .member: components.last { !$0.hasPrefix("[") }
        case .pair: parent?[index: 0]?.string
        case .name: parent?["name"]?.string
        case .authorization: "authorization"
        case .none: nil
        }
    }

    private static func matches(_ pattern: [String], _ components: [String], isPrefix: Bool) -> Bool {
        guard isPrefix ? components.count < pattern.count : components.count == pattern.count else { return false }
        return zip(pattern, components).allSatisfy { part, component in
            switch part {
            case "*": !component.hasPrefix("[")
            case "[]": component.hasPrefix("[")
            default: part == component
            }
        }
    }
}
