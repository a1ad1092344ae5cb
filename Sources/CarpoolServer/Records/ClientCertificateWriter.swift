internal import CarpoolHTTP
internal import CarpoolJSON

/// Writes what may be shown of a client certificate.
enum ClientCertificateWriter {
    /// Writes it as an object.
    static func write(_ summary: ClientCertificate.Summary, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("subject", summary.subject)
        writer.member("issuer", summary.issuer)
        writer.member("serial_number", summary.serialNumber)
        writer.member("not_before", summary.notBeforeText)
        writer.member("not_after", summary.notAfterText)
        writer.member("sha256", summary.fingerprint)
        writer.endObject()
    }
}
