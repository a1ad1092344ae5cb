internal import CLinux
internal import Glibc

/// The request messages of rtnetlink(7).
enum RouteRequest {
    /// All interfaces, without their counters, which are most of the bytes.
    static func links(sequence: UInt32) -> [UInt8] {
        var body = [UInt8](repeating: 0, count: 16)
        append(attribute: IFLA_EXT_MASK, number(UInt32(RTEXT_FILTER_SKIP_STATS)), to: &body)
        return message(RTM_GETLINK, NLM_F_REQUEST | NLM_F_ROOT | NLM_F_MATCH, sequence, body)
    }

    /// All addresses.
    static func addresses(sequence: UInt32) -> [UInt8] {
        message(RTM_GETADDR, NLM_F_REQUEST | NLM_F_ROOT | NLM_F_MATCH, sequence, [UInt8](repeating: 0, count: 8))
    }

    /// The route to an address, through an interface if there is one.
    static func route(to address: IPAddress, interface: Int?, sequence: UInt32) -> [UInt8] {
        let bytes = address.bytes
        var body = [UInt8](repeating: 0, count: 12)
        body[0] = UInt8(truncatingIfNeeded: address.family == .v4 ? AF_INET : AF_INET6)
        body[1] = UInt8(truncatingIfNeeded: 8 * bytes.count)
        append(attribute: Int(RTA_DST.rawValue), bytes, to: &body)
        if let interface {
            append(attribute: Int(RTA_OIF.rawValue), number(UInt32(truncatingIfNeeded: interface)), to: &body)
        }
        return message(RTM_GETROUTE, NLM_F_REQUEST, sequence, body)
    }

    private static func message(_ type: Int, _ flags: Int32, _ sequence: UInt32, _ body: [UInt8]) -> [UInt8] {
        number(UInt32(truncatingIfNeeded: 16 + body.count)) + number(UInt16(truncatingIfNeeded: type))
            + number(UInt16(truncatingIfNeeded: flags)) + number(sequence) + number(UInt32(0)) + body
    }

    /// Appends an attribute. The values have four or sixteen bytes, so that no padding is necessary.
    private static func append(attribute type: Int, _ value: [UInt8], to body: inout [UInt8]) {
        body += number(UInt16(truncatingIfNeeded: 4 + value.count)) + number(UInt16(truncatingIfNeeded: type)) + value
    }

    private static func number(_ value: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: value) { Array($0) } }
}
