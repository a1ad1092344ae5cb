import CarpoolHTTP
import CarpoolSystem
import Glibc

extension ServerTrust {
    /// The authorities of a file, and no others; with more text behind them they are those of another file.
    static func authorities(file path: String, and more: String = "") throws -> ServerTrust {
        let file = try FileDescriptor.open(path, O_RDONLY)
        let bytes = try Bytes.readAll(file.raw, atMost: TrustStore.maximumBytes, path: path) + Array(more.utf8)
        return .authorities(TrustedAuthorities(try TrustStore(pem: bytes), path: path))
    }
}
