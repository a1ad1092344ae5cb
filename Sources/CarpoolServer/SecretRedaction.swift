internal import CarpoolJSON

/// Writes what a client has configured for others to read: as it was given, but for its secrets.
enum SecretRedaction {
    /// Members whose values are secrets wherever they stand.
    private static let secrets: Set<String> = [
        "password", "token", "client_secret", "access_token", "refresh_token", "value",
    ]

    static func write(_ json: JSON, to writer: inout JSONWriter) {
        switch json.kind {
        case .object:
            writer.beginObject()
            json.forEachMember { (name: String, value: JSON) in
                writer.key(name)
                if secrets.contains(name), value.kind == .string {
                    writer.string("(hidden)")
                } else {
                    write(value, to: &writer)
                }
            }
            writer.endObject()
        case .array:
            writer.beginArray()
            json.forEachElement { element in write(element, to: &writer) }
            writer.endArray()
        default: writer.value(json)
        }
    }
}
