internal import CarpoolJSON
internal import CarpoolSession

/// Writes a client's configuration for other readers: as it was set, without its secrets.
enum SecretRedaction {
    static func write(_ json: JSON, to writer: inout JSONWriter) { write(json, isSecret: false, to: &writer) }

    private static func write(_ json: JSON, isSecret: Bool, isElement: Bool = false, to writer: inout JSONWriter) {
        switch json.kind {
        case .object:
            writer.beginObject()
            json.forEachMember { (name: String, value: JSON) in
                writer.key(name)
                write(value, isSecret: isSecret || hides(name), to: &writer)
            }
            writer.endObject()
        case .array:
            writer.beginArray()
            // Fields may be written as pairs of name and value.
            let pairName = isElement && json.count == 2 ? json[index: 0]?.string : nil
            var isFirst = true
            json.forEachElement { element in
                let isPairValue = !isFirst && pairName.map(SecretNames.contains) == true
                write(element, isSecret: isSecret || isPairValue, isElement: true, to: &writer)
                isFirst = false
            }
            writer.endArray()
        case .string where isSecret: writer.string(Redaction.mark)
        case .string: writer.string(Redaction.withoutSecrets(json.string ?? ""))
        default: writer.value(json)
        }
    }

    /// `value` is that of a header whose name stands beside it.
    private static func hides(_ name: String) -> Bool { name == "value" || SecretNames.contains(name) }
}
