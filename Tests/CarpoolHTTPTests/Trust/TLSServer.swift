import CarpoolHTTP
import Glibc

/// OpenSSL's server with one of the test's certificates. It answers each request with a page, one connection at a time.
final class TLSServer: Sendable {
    let port: UInt16
    private let process: ChildProcess

    /// - Parameters:
    ///   - chain: the names of its certificates; the first is its own.
    ///   - options: more options of `openssl s_server`.
    init(_ chain: [String] = ["leaf", "middle"], _ options: String = "") throws {
        let files = try ServerCertificates.shared.get()
        let output = try makeTemporaryDirectory()
        let above = chain.dropFirst().map { "\($0).pem" }.joined(separator: " ")
        let name = chain.first ?? ""
        process = try ChildProcess(
            script: """
                cd \(files.directory); output=\(output)
                [ -z "\(above)" ] || { cat \(above) >$output/chain; options="-cert_chain $output/chain"; }
                openssl s_server -accept 127.0.0.1:0 -www -cert \(name).pem -key \(name).key $options \
                    \(options) >$output/log 2>&1 </dev/null & server=$!
                for ((round = 0; round < 500; round++)); do grep -q ACCEPT $output/log && break; sleep 0.02; done
                sed -n 's/^ACCEPT .*://p' $output/log >$output/port
                echo ready; read line; kill $server; rm -r $output
                """)
        var text = [CChar](repeating: 0, count: 16)
        guard let file = fopen(output + "/port", "r"), fgets(&text, Int32(text.count), file) != nil else {
            throw ChildProcess.Failure(description: "openssl s_server \(chain)")
        }
        fclose(file)
        port = UInt16(clamping: atoi(text))
    }

    var url: String { "https://localhost:\(port)/" }

    func end() { process.end() }
}
