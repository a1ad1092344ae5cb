internal import CarpoolHTTP
internal import CarpoolJSON
public import CarpoolRPC
internal import CarpoolSystem
internal import Glibc

/// The version of the daemon and of its libraries.
public enum ServerVersion {
    /// As in `carpoold --version`.
    public static let text = Release.version
    /// The libcurl that it runs with, and the profile that follows from it.
    public static var library: String { "libcurl \(CurlLibrary.version), profile \(CurlLibrary.profile.rawValue)" }

    /// The OpenRPC document that `rpc.discover` answers with, on one line.
    public static func openRPC(of catalogue: Catalogue = .carpool) -> String {
        var writer = JSONWriter()
        catalogue.openRPC(version: text, to: &writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}

/// The identity of one run of the daemon.
struct DaemonIdentity {
    /// The name of this run: request ids and cursors begin with it.
    let epoch: String
    /// When the daemon started, in microseconds since 1970.
    let started: Int64

    /// Who this daemon is.
    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("name", static: "carpoold")
        writer.member("version", ServerVersion.text)
        writer.member("pid", getpid())
        writer.member("epoch", epoch)
        writer.endObject()
    }
}
