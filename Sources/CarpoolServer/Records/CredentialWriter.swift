internal import CarpoolJSON
internal import CarpoolSession

/// Writes credentials without their passwords.
enum CredentialWriter {
    /// Writes an entry of a session as an object.
    static func write(_ entry: SessionCredentials.Entry, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("host", entry.space.host)
        if let port = entry.space.port { writer.member("port", Int(port)) }
        writer.member("scheme", entry.space.scheme)
        writer.member("realm", entry.space.realm)
        writer.member("username", entry.credential.user)
        writer.member("schemes", entry.credential.schemes.map(\.rawValue).sorted())
        writer.member("preemptive", entry.credential.isPreemptive)
        writer.member("set_by", entry.isOfConfiguration ? "configuration" : "credentials.set")
        writer.endObject()
    }
}
