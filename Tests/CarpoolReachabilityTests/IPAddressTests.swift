import CarpoolReachability
import Testing

struct IPAddressTests {
    @Test(arguments: ["0.0.0.0", "10.9.0.1", "255.255.255.255", "::", "::1", "fe80::1", "2001:db8::7"])
    func textRoundTrip(_ text: String) throws {
        let address = try #require(IPAddress(text))
        #expect(address.description == text)
        #expect(IPAddress(bytes: address.bytes) == address)
    }

    @Test(arguments: ["", "10.9.0", "10.9.0.256", "fe80::1%eth0", "localhost", "1.2.3.4.5", "::g"])
    func notAnAddress(_ text: String) { #expect(IPAddress(text) == nil) }

    @Test func theTwoFamiliesDiffer() { #expect(IPAddress("0.0.0.1") != IPAddress("::1")) }

    @Test func kinds() throws {
        #expect(try #require(IPAddress("127.1.2.3")).isLoopback && #require(IPAddress("::1")).isLoopback)
        #expect(try #require(IPAddress("169.254.1.1")).isLinkLocal && #require(IPAddress("febf::1")).isLinkLocal)
        #expect(try !#require(IPAddress("fec0::1")).isLinkLocal && !#require(IPAddress("10.0.0.1")).isLoopback)
        #expect(try #require(IPAddress("::")).isUnspecified && #require(IPAddress("0.0.0.0")).isUnspecified)
    }

    @Test(arguments: [
        ("10.9.200.7", 24, "10.9.200.0"), ("10.9.200.7", 20, "10.9.192.0"), ("10.9.200.7", 32, "10.9.200.7"),
        ("10.9.200.7", 0, "0.0.0.0"), ("2001:db8:1:2::7", 48, "2001:db8:1::"),
    ])
    func networks(_ text: String, _ prefix: Int, _ network: String) throws {
        #expect(try #require(IPAddress(text)).network(prefixLength: prefix) == IPAddress(network))
    }
}
