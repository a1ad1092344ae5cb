internal import CLinux
internal import Glibc

/// Parses the messages of one datagram of rtnetlink(7). A truncated message ends the datagram; nothing is read beyond
/// it.
public enum RouteMessageParser {
    /// The size of a message's header: length, type, flags, sequence, sender (netlink(7), `struct nlmsghdr`).
    private static let headerBytes = 16

    /// Calls the body with each message of one datagram, in order.
    public static func forEach(in bytes: UnsafeRawBufferPointer, _ body: (NumberedRouteMessage) -> Void) {
        forEachHeader(in: bytes) { type, message in
            let size = headerBytes
            guard let flags = message.number(at: 6, as: UInt16.self),
                let sequence = message.number(at: 8, as: UInt32.self)
            else { return }
            body(
                NumberedRouteMessage(
                    sequence: sequence, isInterrupted: flags & UInt16(NLM_F_DUMP_INTR) != 0,
                    message: self.message(type, UnsafeRawBufferPointer(rebasing: message[size...]))))
        }
    }

    /// Calls the body with the type (`RTM_*`) of each message of one datagram, without parsing the rest.
    static func forEachType(in bytes: UnsafeRawBufferPointer, _ body: (UInt16) -> Void) {
        forEachHeader(in: bytes) { type, _ in body(type) }
    }

    private static func forEachHeader(
        in bytes: UnsafeRawBufferPointer, _ body: (UInt16, UnsafeRawBufferPointer) -> Void
    ) {
        var rest = bytes
        while let length = rest.number(at: 0, as: UInt32.self).flatMap({ Int(exactly: $0) }),
            length >= headerBytes, length <= rest.count, let type = rest.number(at: 4, as: UInt16.self)
        {
            body(type, UnsafeRawBufferPointer(rebasing: rest[..<length]))
            rest = rest.dropping(padded: length)
        }
    }

    private static func message(_ type: UInt16, _ payload: UnsafeRawBufferPointer) -> RouteMessage {
        switch Int(type) {
        case Int(NLMSG_DONE): .done
        case Int(NLMSG_ERROR): .failure(0 &- (payload.number(at: 0, as: Int32.self) ?? -EBADMSG))
        case RTM_NEWLINK: link(payload).map { .link($0) } ?? .other(type)
        case RTM_DELLINK: payload.number(at: 4, as: Int32.self).map { .linkGone(Int($0)) } ?? .other(type)
        case RTM_NEWADDR: address(payload).map { .address($0) } ?? .other(type)
        case RTM_DELADDR: address(payload).map { .addressGone($0) } ?? .other(type)
        case RTM_NEWROUTE: route(payload).map { .route($0) } ?? .other(type)
        case RTM_DELROUTE: .routeGone
        case RTM_NEWRULE, RTM_DELRULE: .rule
        case RTM_NEWNEXTHOP, RTM_DELNEXTHOP: .nexthop
        default: .other(type)
        }
    }

    // MARK: Links

    /// `struct ifinfomsg`: family, padding, hardware type, index, flags, change mask.
    private static func link(_ payload: UnsafeRawBufferPointer) -> NetworkLink? {
        guard let hardwareType = payload.number(at: 2, as: UInt16.self),
            let index = payload.number(at: 4, as: Int32.self), let flags = payload.number(at: 8, as: UInt32.self)
        else { return nil }
        var (name, kind): (String?, String?)
        var (mtu, master) = (0, Int?.none)
        var state = NetworkLink.OperationalState.unknown
        var attributes = RouteAttributes(payload, after: 16)
        while let attribute = attributes.next() {
            switch attribute.type {
            case IFLA_IFNAME: name = attribute.value.text
            case IFLA_MTU: mtu = attribute.value.number(at: 0, as: UInt32.self).map { Int($0) } ?? 0
            case IFLA_MASTER: master = attribute.value.number(at: 0, as: UInt32.self).map { Int($0) }
            case IFLA_OPERSTATE:
                state = attribute.value.number(at: 0, as: UInt8.self).flatMap { .init(rawValue: $0) } ?? .unknown
            case IFLA_LINKINFO: kind = RouteMessageParser.kind(attribute.value)
            default: continue
            }
        }
        guard let name else { return nil }
        return NetworkLink(
            index: Int(index), name: name, flags: flags, hardwareType: hardwareType, operationalState: state,
            mtu: mtu, kind: kind, master: master)
    }

    private static func kind(_ information: UnsafeRawBufferPointer) -> String? {
        var attributes = RouteAttributes(information, after: 0)
        while let attribute = attributes.next() {
            if attribute.type == IFLA_INFO_KIND { return attribute.value.text }
        }
        return nil
    }

    // MARK: Addresses

    /// `struct ifaddrmsg`: family, prefix length, flags, scope, index.
    private static func address(_ payload: UnsafeRawBufferPointer) -> InterfaceAddress? {
        guard let prefixLength = payload.number(at: 1, as: UInt8.self),
            let shortFlags = payload.number(at: 2, as: UInt8.self), let scope = payload.number(at: 3, as: UInt8.self),
            let index = payload.number(at: 4, as: UInt32.self)
        else { return nil }
        var flags = UInt32(shortFlags)
        var (local, address): (IPAddress?, IPAddress?)
        var attributes = RouteAttributes(payload, after: 8)
        while let attribute = attributes.next() {
            switch attribute.type {
            // On a point-to-point link IFA_ADDRESS is the other end, and IFA_LOCAL this one.
            case IFA_LOCAL: local = attribute.value.address
            case IFA_ADDRESS: address = attribute.value.address
            // 32 bits; the header contains only the lower 8.
            case IFA_FLAGS: flags = attribute.value.number(at: 0, as: UInt32.self) ?? flags
            default: continue
            }
        }
        guard let own = local ?? address else { return nil }
        return InterfaceAddress(
            interface: Int(index), address: own, prefixLength: Int(prefixLength), scope: self.scope(scope),
            state: state(flags))
    }

    private static func scope(_ scope: UInt8) -> InterfaceAddress.Scope {
        switch scope {
        case UInt8(RT_SCOPE_HOST.rawValue)...: .host
        case UInt8(RT_SCOPE_LINK.rawValue): .link
        default: .global
        }
    }

    private static func state(_ flags: UInt32) -> InterfaceAddress.State {
        if flags & UInt32(IFA_F_DADFAILED) != 0 { return .duplicate }
        if flags & UInt32(IFA_F_TENTATIVE) != 0, flags & UInt32(IFA_F_OPTIMISTIC) == 0 { return .tentative }
        return flags & UInt32(IFA_F_DEPRECATED) != 0 ? .deprecated : .preferred
    }

    // MARK: Routes

    /// `struct rtmsg`: family, two prefix lengths, type of service, table, protocol, scope, type, flags.
    private static func route(_ payload: UnsafeRawBufferPointer) -> KernelRoute? {
        guard let type = payload.number(at: 7, as: UInt8.self) else { return nil }
        var interface: Int?
        var (gateway, source): (IPAddress?, IPAddress?)
        var attributes = RouteAttributes(payload, after: 12)
        while let attribute = attributes.next() {
            switch attribute.type {
            case Int(RTA_OIF.rawValue): interface = attribute.value.number(at: 0, as: Int32.self).map { Int($0) }
            case Int(RTA_GATEWAY.rawValue): gateway = attribute.value.address
            // A gateway of the other family: two bytes of family, then the address (`struct rtvia`).
            case Int(RTA_VIA.rawValue) where attribute.value.count > 2:
                gateway = UnsafeRawBufferPointer(rebasing: attribute.value.dropFirst(2)).address
            case Int(RTA_PREFSRC.rawValue): source = attribute.value.address
            default: continue
            }
        }
        let kind = KernelRoute.Kind(rawValue: type) ?? .other
        return KernelRoute(kind: kind, interface: interface, gateway: gateway, source: source)
    }
}

/// Iterates over attributes: two bytes of length, two of type, the value, and padding to four (rtnetlink(7), `struct
/// rtattr`).
private struct RouteAttributes {
    private var rest: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer, after offset: Int) {
        rest = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(offset))
    }

    mutating func next() -> (type: Int, value: UnsafeRawBufferPointer)? {
        guard let length = rest.number(at: 0, as: UInt16.self).map({ Int($0) }), length >= 4, length <= rest.count,
            let type = rest.number(at: 2, as: UInt16.self)
        else { return nil }
        let value = UnsafeRawBufferPointer(rebasing: rest[4..<length])
        rest = rest.dropping(padded: length)
        // The two highest bits are flags.
        return (Int(type & 0x3FFF), value)
    }
}

extension UnsafeRawBufferPointer {
    /// The number at an offset, in the machine's byte order; `nil` if the bytes end before.
    fileprivate func number<Number: FixedWidthInteger & BitwiseCopyable>(at offset: Int, as: Number.Type) -> Number? {
        guard count - offset >= MemoryLayout<Number>.size else { return nil }
        return loadUnaligned(fromByteOffset: offset, as: Number.self)
    }

    /// The rest after this number of bytes and their padding to four.
    fileprivate func dropping(padded length: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: dropFirst((length + 3) & ~3))
    }

    /// The text before the first NUL; invalid UTF-8 becomes U+FFFD.
    fileprivate var text: String { String(decoding: prefix { $0 != 0 }, as: UTF8.self) }

    fileprivate var address: IPAddress? { IPAddress(bytes: self) }
}
