internal import CCurl

/// A mark of connections to one origin: libcurl reuses a connection for requests with the same mark only.
///
/// libcurl compares the options of TLS. Those whose bits make a mark have an effect with Schannel alone, which no Linux
/// has.
struct ConnectionMark: Hashable {
    private let rawValue: Int

    /// The mark of an origin's first connections.
    static let first = ConnectionMark(rawValue: 0)
    /// All marks.
    static let all = (0..<(1 << bits.count)).map { ConnectionMark(rawValue: $0) }

    private static let bits = [
        Int(CURLSSLOPT_NO_REVOKE), Int(CURLSSLOPT_REVOKE_BEST_EFFORT), Int(CURLSSLOPT_AUTO_CLIENT_CERT),
    ]

    /// The value of CURLOPT_SSL_OPTIONS; 0 is its default.
    var options: Int {
        ConnectionMark.bits.enumerated().reduce(0) { rawValue >> $1.offset & 1 == 1 ? $0 | $1.element : $0 }
    }
}
