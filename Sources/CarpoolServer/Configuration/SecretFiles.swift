internal import CarpoolJSON
internal import CarpoolSession

/// Replaces each `{"file": PATH}` in the place of a secret by the content of the file.
struct SecretFiles {
    /// The configuration with the secrets.
    private(set) var resolved: [UInt8] = []
    /// The configuration with the mark of hidden values instead.
    private(set) var shown: [UInt8] = []
    /// The values of header fields that hold a secret of a file.
    private(set) var values: [String] = []
    private let path: String

    /// What becomes of a secret in a header field.
    private enum Use {
        /// It is the value.
        case value
        /// It is the token of `Bearer`.
        case bearer
        /// It is the password of `Basic`.
        case basic
    }

    /// The places of secrets. `*` is any member, `[]` any element of a list.
    private static let places: [(components: [String], use: Use)] = [
        (["headers", "*"], .value), (["headers", "*", "[]"], .value), (["headers", "[]", "[1]"], .value),
        (["redirect", "modify", "set_headers", "*"], .value),
        (["redirect", "modify", "set_headers", "*", "[]"], .value),
        (["redirect", "modify", "set_headers", "[]", "[1]"], .value),
        (["interceptor", "[]", "set_header", "value"], .value),
        (["interceptor", "[]", "basic_auth", "password"], .basic),
        (["interceptor", "[]", "bearer", "token"], .bearer),
        (["interceptor", "[]", "oauth2", "client_secret"], .value),
        (["interceptor", "[]", "oauth2", "credential", "access_token"], .bearer),
        (["interceptor", "[]", "oauth2", "credential", "refresh_token"], .value),
        (["interceptor", "[]", "oauth2", "headers", "*"], .value),
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
        if json.kind == .object, let use = SecretFiles.use(at: components) {
            let secret = try read(json, at: components, &files)
            values.append(SecretFiles.fieldValue(of: secret, use, in: parent))
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

    private static func use(at components: [String]) -> Use? {
        places.first { matches($0.components, components, isPrefix: false) }?.use
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

    private static func fieldValue(of secret: String, _ use: Use, in parent: JSON?) -> String {
        switch use {
        case .value: return secret
        case .bearer: return "Bearer \(secret)"
        case .basic:
            var token: [UInt8] = []
            let credential = Array("\(parent?["username"]?.string ?? ""):\(secret)".utf8)
            credential.withUnsafeBytes { Base64.encode($0, into: &token) }
            return "Basic \(String(decoding: token, as: UTF8.self))"
        }
    }
}
