/// The type of an interface's link, as far as known without asking the driver.
public enum InterfaceType: String, Sendable {
    /// A wireless network.
    case wifi
    /// A modem.
    case cellular
    /// Ethernet, real or virtual.
    case wiredEthernet = "wired_ethernet"
    /// The machine itself.
    case loopback
    /// A tunnel, or anything else.
    case other

    /// Hardware types that are tunnels or serial lines: PPP, none (tun, WireGuard), IP over IP, SIT, GRE (`ARPHRD_*`).
    private static let tunnels: Set<UInt16> = [512, 65_534, 768, 769, 776, 778, 823]
    private static let rawIP: UInt16 = 519
    private static let ethernet: UInt16 = 1

    /// Decides the type.
    /// - Parameters:
    ///   - link: the kernel's message about the interface.
    ///   - deviceType: `DEVTYPE` of its uevent file, if it has one.
    ///   - isWireless: whether sysfs shows a wireless side of it.
    public static func of(_ link: NetworkLink, deviceType: String?, isWireless: Bool) -> InterfaceType {
        if link.isLoopback { return .loopback }
        if deviceType == "wlan" || isWireless { return .wifi }
        if deviceType == "wwan" || link.hardwareType == rawIP { return .cellular }
        if link.name.hasPrefix("wwan") || link.name.hasPrefix("rmnet") { return .cellular }
        if tunnels.contains(link.hardwareType) || link.kind == "wireguard" || link.kind == "xfrm" { return .other }
        return link.hardwareType == ethernet ? .wiredEthernet : .other
    }

    /// Whether sysfs has more information about the link than the kernel's message.
    static func needsFiles(_ link: NetworkLink) -> Bool {
        !link.isLoopback && !tunnels.contains(link.hardwareType)
    }
}
