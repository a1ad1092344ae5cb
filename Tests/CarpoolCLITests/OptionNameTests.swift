@testable import CarpoolCLI
import Testing

struct OptionNameTests {
    @Test(
        "A refused parameter is shown as the option that sets it",
        arguments: [
            ("trust.ca_file: holds no certificate", "--cacert: holds no certificate"),
            ("trust.evaluators.*.composite[0].public_keys.pins[0]: x", "--pinnedpubkey: x"),
            ("trust.evaluators.*.composite[0].revocation.crl_file: x", "--crlfile: x"),
            ("addresses.resolve[0]: not an IP address: \"a\"", "--resolve: not an IP address: \"a\""),
            ("addresses.local_address: x", "--interface: x"), ("tls.max_version: x", "--tls-max: x"),
        ])
    func options(_ message: String, _ expected: String) {
        let failure = Failure(.refused, "Invalid params: params.\(message)", hint: "h").namingOption
        #expect(failure.message == expected && failure.hint == "h" && failure.code == .refused)
    }

    @Test("Other messages stay as they are", arguments: ["Invalid params: params.url: x", "no such session: a"])
    func others(_ message: String) {
        #expect(Failure(.refused, message).namingOption.message == message)
    }
}
