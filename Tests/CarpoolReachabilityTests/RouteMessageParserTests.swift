import CarpoolReachability
import Testing

struct RouteMessageParserTests {
    private func parse(_ bytes: [UInt8]) -> [NumberedRouteMessage] {
        var messages: [NumberedRouteMessage] = []
        bytes.withUnsafeBytes { RouteMessageParser.forEach(in: $0) { messages.append($0) } }
        return messages
    }

    @Test func aLink() throws {
        let message = try #require(parse(RecordedMessages.port).first)
        #expect(message.sequence == 7 && !message.isInterrupted)
        guard case .link(let link) = message.message else { return #expect(Bool(false)) }
        #expect(link.name == "vb" && link.index == 2 && link.mtu == 1_500 && link.hardwareType == 1)
        #expect(link.kind == "veth" && link.master == 4 && link.operationalState == .up)
        #expect(link.isUp && link.isUsable && link.hasCarrier && !link.isLoopback && !link.isDormant)
    }

    @Test(arguments: [
        (
            RecordedMessages.privateAddress, 3, "10.9.0.1", 24, InterfaceAddress.Scope.global,
            InterfaceAddress.State.preferred
        ),
        (RecordedMessages.pointToPointAddress, 6, "10.8.0.2", 32, .global, .preferred),
        (RecordedMessages.tentativeAddress, 3, "2001:db8::7", 64, .global, .tentative),
        (RecordedMessages.loopbackAddress, 1, "127.0.0.1", 8, .host, .preferred),
    ])
    func addresses(
        _ bytes: [UInt8], _ interface: Int, _ text: String, _ prefix: Int, _ scope: InterfaceAddress.Scope,
        _ state: InterfaceAddress.State
    ) throws {
        let address = InterfaceAddress(
            interface: interface, address: try #require(IPAddress(text)), prefixLength: prefix, scope: scope,
            state: state)
        #expect(parse(bytes).map(\.message) == [.address(address)])
    }

    @Test func routes() {
        #expect(
            parse(RecordedMessages.defaultRoute).map(\.message) == [
                .route(KernelRoute(interface: 3, gateway: IPAddress("10.9.0.2"), source: IPAddress("10.9.0.1")))
            ])
        #expect(
            parse(RecordedMessages.otherFamilyRoute).map(\.message) == [
                .route(KernelRoute(interface: 3, gateway: IPAddress("fe80::1"), source: IPAddress("10.9.0.1")))
            ])
        #expect(
            parse(RecordedMessages.localRoute).map(\.message) == [
                .route(KernelRoute(kind: .local, interface: 1, source: IPAddress("127.0.0.1")))
            ])
        #expect(parse(RecordedMessages.unreachable).map(\.message) == [.failure(113)])
    }

    @Test func severalMessagesInOneDatagram() {
        let bytes = RecordedMessages.port + RecordedMessages.privateAddress + RecordedMessages.done
        #expect(parse(bytes).count == 3)
        #expect(parse(bytes).last?.message == .done)
    }

    @Test func aDumpThatMissedAChange() {
        var bytes = RecordedMessages.done
        bytes[6] |= 0x10
        #expect(parse(bytes).first?.isInterrupted == true)
    }

    /// With any truncation and any wrong bytes, nothing is read beyond the end.
    @Test func brokenDatagrams() {
        let whole = RecordedMessages.port + RecordedMessages.defaultRoute
        for count in 0..<whole.count { _ = parse(Array(whole[..<count])) }
        var state: UInt64 = 42
        for _ in 0..<20_000 {
            var bytes = whole
            for _ in 0..<4 {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                bytes[Int(state >> 33) % bytes.count] = UInt8(truncatingIfNeeded: state >> 20)
            }
            _ = parse(bytes)
        }
    }
}
