internal import CarpoolSession

/// Whether the reader may read secrets, and whether there were any.
final class Disclosure {
    /// Whether the reader owns the secrets.
    var isForOwner = false
    /// Whether something was hidden, or would have been.
    var foundSecret = false
    /// Cached results for field names: events repeat the same few.
    private var known: [String: Bool] = [:]

    private static let maximumNames = 1_024
    private static let maximumNameBytes = 64

    /// Whether a secret may be written; notes that there is one.
    func mayShowSecret() -> Bool {
        foundSecret = true
        return isForOwner
    }

    /// A URL, or a text that may hold one.
    func shown(_ text: String) -> String {
        let open = Redaction.withoutSecrets(text)
        // Only texts with a "=" or "@" differ, and those rarely.
        return open == text || mayShowSecret() ? text : open
    }

    /// The value of a field.
    func shown(_ value: String, of name: String) -> String {
        guard isSecret(name) else { return shown(value) }
        return mayShowSecret() ? value : Redaction.mark
    }

    private func isSecret(_ name: String) -> Bool {
        if let answer = known[name] { return answer }
        let answer = SecretNames.contains(name)
        if name.utf8.count <= Disclosure.maximumNameBytes, known.count < Disclosure.maximumNames {
            known[name] = answer
        }
        return answer
    }
}
