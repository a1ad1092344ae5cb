/// One interface as the kernel describes it, without its addresses.
public struct NetworkLink: Equatable, Sendable {
    /// Whether traffic can flow (RFC 2863, `ifOperStatus`).
    public enum OperationalState: UInt8, Sendable {
        /// Unknown to the driver.
        case unknown = 0
        /// A component is missing.
        case notPresent
        /// Traffic cannot flow.
        case down
        /// The lower layer is down.
        case lowerLayerDown
        /// It is being tested.
        case testing
        /// It waits for something, such as an authentication.
        case dormant
        /// Traffic can flow.
        case up
    }

    /// Its number, which stays when the name changes.
    public let index: Int
    /// Its name.
    public let name: String
    /// The bits `IFF_*` of netdevice(7).
    public let flags: UInt32
    /// The hardware type, `ARPHRD_*`.
    public let hardwareType: UInt16
    /// Whether traffic can flow.
    public let operationalState: OperationalState
    /// The largest packet in bytes.
    public let mtu: Int
    /// The driver's kind of a virtual interface (`veth`, `bridge` ...); `nil` for real hardware.
    public let kind: String?
    /// The number of the bridge or bond that it is a port of.
    public let master: Int?

    /// Makes one from its parts.
    public init(
        index: Int, name: String, flags: UInt32, hardwareType: UInt16 = 1, operationalState: OperationalState = .up,
        mtu: Int = 1_500, kind: String? = nil, master: Int? = nil
    ) {
        self.index = index
        self.name = name
        self.flags = flags
        self.hardwareType = hardwareType
        self.operationalState = operationalState
        self.mtu = mtu
        self.kind = kind
        self.master = master
    }

    /// It is administratively up.
    public var isUp: Bool { flags & 0x1 != 0 }
    /// It is the loopback.
    public var isLoopback: Bool { flags & 0x8 != 0 }
    /// There is one machine at the other end.
    public var isPointToPoint: Bool { flags & 0x10 != 0 }
    /// It waits for something before it carries traffic.
    public var isDormant: Bool { flags & 0x2_0000 != 0 || operationalState == .dormant }
    /// It has a carrier. A bridge that is down has one too, so it counts only together with ``isUp``.
    public var hasCarrier: Bool { isUp && flags & 0x1_0000 != 0 }
    /// It carries traffic: up, running, and with a carrier. All three, because for up to a second after a cable was
    /// pulled the kernel reports it as running without a carrier.
    public var isUsable: Bool { hasCarrier && flags & 0x40 != 0 }
}
