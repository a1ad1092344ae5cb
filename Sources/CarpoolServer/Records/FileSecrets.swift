internal import CarpoolHTTP
internal import CarpoolSession

/// Values of header fields that declared sessions read from files. No client is shown them, whatever the field's name
/// is, and not even the client that made the request.
final class FileSecrets {
    private var counts: [String: Int] = [:]

    /// Keeps values hidden as long as it exists: as long as a session, which its requests keep.
    final class Hold {
        private let secrets: FileSecrets
        private let values: [String]

        fileprivate init(_ values: [String], _ secrets: FileSecrets) {
            self.values = values
            self.secrets = secrets
        }

        deinit { secrets.release(values) }
    }

    /// Hides values.
    func hide(_ values: [String]) -> Hold {
        // As the field is sent, without blanks at its ends.
        let values = values.map { (try? HTTPField(name: "x", value: $0))?.value ?? $0 }
        for value in values { counts[value, default: 0] += 1 }
        return Hold(values, self)
    }

    private func release(_ values: [String]) {
        for value in values {
            guard let count = counts[value] else { continue }
            counts[value] = count > 1 ? count - 1 : nil
        }
    }

    /// Whether a value is one of them.
    func contains(_ value: String) -> Bool { !counts.isEmpty && counts[value] != nil }

    /// The fields with these values hidden.
    func hidden(_ fields: [HTTPField]) -> [HTTPField] {
        guard !counts.isEmpty else { return fields }
        return fields.map { field in
            guard contains(field.value) else { return field }
            return (try? HTTPField(name: field.name, value: Redaction.mark)) ?? field
        }
    }
}
