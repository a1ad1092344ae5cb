import CarpoolHTTP
import CarpoolSystem
import Glibc

/// Certificates, keys and PKCS#12 files of all kinds in a directory of their own; made once, by openssl.
struct TestCertificates: Sendable {
    static let shared = Result { try TestCertificates() }

    /// The password of everything that is encrypted.
    static let password = Array("secret".utf8)

    let directory: String

    private init() throws {
        directory = try makeTemporaryDirectory()
        try ChildProcess.run("cd \(directory) && bash -c '\(TestCertificates.script)'")
    }

    /// The bytes of one of the files.
    func bytes(_ name: String) throws -> [UInt8] {
        let path = "\(directory)/\(name)"
        let file = try FileDescriptor.open(path, O_RDONLY)
        return try Bytes.readAll(file.raw, atMost: 1 << 20, path: path)
    }

    /// Reads a client certificate from its files.
    func read(
        _ name: String, key: String? = nil, format: ClientCertificate.Format? = nil, isEncrypted: Bool = false
    ) throws -> ClientCertificate {
        try ClientCertificate.read(
            try bytes(name), key: try key.map(bytes), format: format,
            password: isEncrypted ? TestCertificates.password : nil)
    }

    /// `client` was issued by `middle`, which `ca` issued; the others were issued by `ca`.
    private static let script = #"""
        set -e
        q() { "$@" 2>>log >>log; }
        key() { q openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:${2:-P-256} -out $1.key; }
        issue() { # name issuer days serial extensions
            q openssl req -new -key $1.key -subj "/O=Test/CN=$1" -out $1.csr
            q openssl x509 -req -in $1.csr -CA $2.pem -CAkey $2.key -set_serial ${4:-4660} -days ${3:-30} ${5:+-extfile $5} -out $1.pem
        }
        echo "basicConstraints=critical,CA:TRUE" >authority
        key ca; q openssl req -x509 -key ca.key -days 30 -subj /CN=ca -out ca.pem
        key middle; issue middle ca 30 7 authority
        key client; issue client middle
        key stranger; issue stranger ca
        key old; issue old ca -1 8 authority; key late; issue late old; cat old.pem >>late.pem
        key lone; q openssl req -x509 -key lone.key -days 30 -subj /CN=lone -out lone.pem
        echo "extendedKeyUsage=serverAuth" >usage; key server; issue server ca 30 9 usage
        echo "subjectAltName=DNS:localhost,IP:127.0.0.1" >names; key localhost; issue localhost ca 30 10 names
        key expired; issue expired ca -1
        key p384 P-384; issue p384 ca; key p521 P-521; issue p521 ca; key secp256k1 secp256k1; issue secp256k1 ca
        for kind in ed25519 ed448; do q openssl genpkey -algorithm $kind -out $kind.key; issue $kind ca; done
        for bits in 512 1024 2048 4096; do q openssl genrsa -out rsa$bits.key $bits; issue rsa$bits ca; done
        q openssl genrsa -primes 3 -out rsa4104.key 4104; issue rsa4104 ca
        q openssl genrsa -primes 3 -out three.key 2048; issue three ca
        q openssl genpkey -algorithm RSA-PSS -pkeyopt rsa_keygen_bits:2048 -out pss.key; issue pss ca
        q openssl dsaparam -genkey -noout -out dsa.key 1024; issue dsa ca
        cat client.pem middle.pem >chain.pem; cat chain.pem client.key >all.pem
        cat ca.pem middle.pem >authorities.pem; cat client.key authorities.pem client.pem >reversed.pem
        cat client.pem >long.pem; for i in $(seq 32); do cat middle.pem; done >>long.pem; cat long.pem middle.pem >longer.pem
        q openssl rsa -in rsa2048.key -traditional -out pkcs1.key; q openssl ec -in client.key -out sec1.key
        q openssl ecparam -name prime256v1 -out parameters; cat parameters sec1.key >parameters.key
        q openssl ec -in client.key -aes128 -passout pass:secret -out old.key
        encrypt() { name=$1; shift; q openssl pkcs8 -topk8 -in client.key -passout pass:secret "$@" -out $name.key; }
        encrypt pbes2; encrypt pbes1 -v1 PBE-SHA1-3DES; encrypt scrypt -scrypt; encrypt slow -iter 2000001
        encrypt des -v1 PBE-MD5-DES -provider legacy -provider default
        pack() { name=$1; shift; q openssl pkcs12 -export -in client.pem -inkey client.key -certfile authorities.pem "$@" -out $name.p12; }
        pack client -passout pass:secret; pack empty -passout pass:; pack nomac -passout pass:secret -nomac
        pack legacy -passout pass:secret -legacy; pack triple -passout pass:secret -descert -keypbe PBE-SHA1-3DES
        pack plain -passout pass:secret -keypbe NONE -certpbe NONE; pack slow -passout pass:secret -iter 700000
        q openssl pkcs12 -export -nokeys -in client.pem -passout pass:secret -out nokey.p12
        q openssl pkey -in client.key -pubout -out public.pem; q openssl x509 -in client.pem -outform der -out client.der
        sed "s/PRIVATE/OPENSSH PRIVATE/" client.key >ssh.key; head -c 150 client.key >cut.key
        head -c 500 client.p12 >cut.p12; : >nothing
        """#
}
