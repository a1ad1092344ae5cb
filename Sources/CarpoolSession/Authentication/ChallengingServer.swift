internal import CarpoolHTTP

/// Servers that ask for a credential.
public struct Challengers: OptionSet, Sendable {
    /// The set as bits.
    public let rawValue: UInt8

    /// Makes a set of bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The origin.
    public static let origin = Challengers(rawValue: 1)
    /// An HTTP proxy that gets the request as it is.
    public static let proxy = Challengers(rawValue: 2)
}

/// The server that asks for a credential: the origin (401), or a proxy that gets the request as it is (407).
enum ChallengingServer {
    case origin
    case proxy

    /// The server that a status comes from; `nil` if it is no challenge.
    init?(status: Int) {
        switch status {
        case 401: self = .origin
        case 407: self = .proxy
        default: return nil
        }
    }

    /// The other one of the two.
    var other: ChallengingServer { self == .origin ? .proxy : .origin }
    /// The name of the field with the challenges.
    var challengeField: StaticString { self == .origin ? "www-authenticate" : "proxy-authenticate" }
    /// The name of the field with the next nonce.
    var informationField: StaticString { self == .origin ? "authentication-info" : "proxy-authentication-info" }

    /// The origin of the server itself; `nil` if the hop does not go to such a proxy.
    func origin(for hop: TransportRequest) -> Origin? {
        self == .origin ? hop.url.origin : hop.partition.proxyOrigin(for: hop.url.origin)
    }
}
