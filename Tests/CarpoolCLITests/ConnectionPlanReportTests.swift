import CarpoolJSON
import Testing

@testable import CarpoolCLI

@Suite("The report of a connection's settings")
struct ConnectionPlanReportTests {
    private func report(_ text: String) throws -> [String] {
        ConnectionPlanReport(try JSON.parse(Array(text.utf8))).text.split(separator: "\n").map(String.init)
    }

    @Test("Each setting is a line with its source")
    func everySetting() throws {
        let lines = try report(
            #"""
            {"url":"https://a.example/","session":"work","declared_in":"/c.json",
             "trust":{"source":"session","authorities":["/ca.pem","/own.pem"],"verified":true,
                      "evaluator":{"kind":"public_keys","pattern":"*.example"}},
             "tls":{"source":"request","min_version":"1.0","max_version":"1.2","ciphers":"AES128-SHA"},
             "client_certificate":{"source":"session",
                                   "certificate":{"subject":"CN=me","not_after":"2030-01-01T00:00:00Z"}},
             "host":{"source":"request","value":"b.example"},
             "addresses":{"source":"request","host":"c.example","port":444,"resolve":["10.0.0.1","::1"],
                          "local_address":"10.0.0.2","family":"ipv4"},
             "credential":{"source":"request","user":"ada","schemes":["basic"],"preemptive":true},
             "cookies":{"source":"session","names":["sid","theme"]},
             "proxy":{"source":"environment","server":"http://proxy:1080","user":"ada","schemes":["digest"],"tunnel":true,"preproxy":"socks5://p:1"},
             "pool":{"settings":["trust","host"],"sharing":"multiplexed","connections":2,"idle":1}}
            """#)
        #expect(
            lines == [
                "url          https://a.example/", "session      work, declared in /c.json",
                "trust        /ca.pem, /own.pem (session)", "evaluator    public_keys of *.example (session)",
                "tls          1.0 to 1.2, ciphers AES128-SHA (command line)",
                "certificate  CN=me, valid until 2030-01-01T00:00:00Z (session)",
                "host         b.example (command line)",
                "address      c.example, port 444, at 10.0.0.1, ::1, from 10.0.0.2, only ipv4 (command line)",
                "credential   user ada, basic, at once (command line)", "cookies      sid, theme (session)",
                "proxy        http://proxy:1080, as ada, digest, by a tunnel, through socks5://p:1 (environment)",
                "connections  2 open, 1 idle; shared only by requests with the same trust, host",
                "sharing      a connection carries many requests at once, if the server speaks HTTP/2",
            ])
    }

    @Test("Without TLS, and over a Unix socket, what does not apply is left out; nothing can break a line")
    func plain() throws {
        let lines = try report(
            #"""
            {"url":"http://a.example/","session":"default","trust":null,"tls":null,"client_certificate":null,
             "host":{"source":"default","value":"a.example"},
             "addresses":{"source":"session","unix_socket":"/run/a\nb"},"proxy":{"source":"session","exception":true},
             "pool":{"settings":["addresses"],"connections":0,"idle":0}}
            """#)
        #expect(
            lines == [
                "url          http://a.example/", "session      default", "tls          none: the URL is http",
                "host         a.example (default)", #"address      unix:/run/a\u{a}b (session)"#,
                "credential   none (default)", "cookies      none: no jar (default)",
                "proxy        none: the host is in no_proxy (session)",
                "connections  0 open, 0 idle; shared only by requests with the same addresses",
            ])
    }

    @Test(
        "How others use the connections depends on where the body goes",
        arguments: [
            ("sequential", true, "a connection carries one request at a time, then the next one"),
            (
                "separate", true,
                "not with requests that HTTP/2 sends at once, because whatever reads the output may be slow; --whole shares them"
            ),
            ("separate", false, "only with streams, downloads and uploads, which may be long"),
        ])
    func sharing(_ sharing: String, _ printsWhileItArrives: Bool, _ expected: String) throws {
        let plan = try JSON.parse(Array(#"{"host":{},"addresses":{},"pool":{"sharing":"\#(sharing)"}}"#.utf8))
        let text = ConnectionPlanReport(plan, printsWhileItArrives: printsWhileItArrives).text
        #expect(text.hasSuffix("sharing      \(expected)\n"))
    }

    @Test("A server that is not verified, and a host without an evaluator, are named")
    func warnings() throws {
        let rest = #""host":{},"addresses":{},"pool":{}}"#
        let unverified = try report(
            #"{"trust":{"source":"request","authorities":["/ca.pem"],"verified":false,"evaluator":null},"# + rest)
        #expect(unverified.contains("trust        every server: nothing is verified (command line)"))
        let missing = try report(
            #"{"trust":{"source":"session","authorities":[],"verified":true,"evaluator":{"kind":"missing"}},"# + rest)
        #expect(
            missing.contains(
                "evaluator    missing: no pattern has this host, and every certificate is refused (session)"))
    }
}
