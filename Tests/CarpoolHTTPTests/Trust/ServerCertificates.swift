import Glibc

@testable import CarpoolHTTP

/// Certificates, revocation lists and stapled answers, made once by the openssl command.
///
/// | name | what it is |
/// | --- | --- |
/// | `root` | an authority that signed itself |
/// | `middle` | an authority of `root` |
/// | `leaf` | a server's, of `middle`: localhost, `*.wild.test`, 127.0.0.1, ::1 |
/// | `other` | one more of `middle` for localhost, for servers alone |
/// | `client` | of `middle` for localhost, for clients alone |
/// | `weak` | of `middle` for localhost, with a key of RSA of 1,024 bits |
/// | `expensive` | signed itself, with a key of RSA whose exponent has 201 bits |
/// | `deep` | a server's below 11 authorities, `deep-11` to `deep-1`, the last of which is of `root` |
/// | `named` | a server's below `named-3` to `named-1`, each with 1,000 names, the authorities with constraints |
/// | `bounded` | a server's of `named-1`, with one name |
/// | `common` | of `middle`, with a common name and no subjectAltName |
/// | `alone` | signed itself, for localhost |
/// | `stranger` | an authority with the name of `middle` and another key, in no chain |
/// | `broken` | `middle` with the same key, but no authority |
/// | `responder` | of `middle`, may sign answers about its certificates |
/// | `brief` | the same, for two days |
/// | `pretender` | of `root`, may sign answers, but not for `middle` |
final class ServerCertificates: Sendable {
    static let shared = Result { try ServerCertificates() }

    let directory: String

    init() throws {
        directory = try makeTemporaryDirectory()
        try ChildProcess.run("cd \(directory) && exec >log 2>&1 && set -e\n" + ServerCertificates.script)
    }

    func path(_ name: String) -> String { "\(directory)/\(name)" }

    func bytes(_ name: String) throws -> [UInt8] {
        guard let file = fopen(path(name), "r") else { throw ChildProcess.Failure(description: name) }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        return Array(bytes[..<fread(&bytes, 1, bytes.count, file)])
    }

    /// Certificates by name.
    func certificates(_ names: [String]) throws -> [X509Certificate] {
        try names.flatMap { try X509Certificate.parse(try bytes("\($0).pem")) }
    }

    func lists(_ names: [String]) throws -> CertificateRevocationLists {
        try CertificateRevocationLists(try names.flatMap { try bytes("\($0).crl") })
    }

    private static let script = """
        cat >ca.cnf <<'END'
        [req]
        distinguished_name = name
        [name]
        [ca]
        default_ca = list
        [list]
        database = $ENV::DATABASE
        default_md = sha256
        default_crl_days = 5
        END
        export OPENSSL_CONF=$PWD/ca.cnf DATABASE=unused
        key() {
            if [ $1 = weak ]; then openssl genrsa -out weak.key 1024; else openssl ecparam -name prime256v1 -genkey -noout -out $1.key; fi
        }
        # NAME SUBJECT ISSUER EXTENSION...
        certify() {
            local name=$1 subject=$2 issuer=$3; shift 3
            key $name; printf '%s\\n' "$@" >ext
            openssl req -new -key $name.key -subj "$subject" -out csr
            if [ $issuer = $name ]; then openssl x509 -req -in csr -key $name.key -days ${days-30} -extfile ext -out $name.pem
            else openssl x509 -req -in csr -CA $issuer.pem -CAkey $issuer.key -CAcreateserial -days ${days-30} -extfile ext -out $name.pem
            fi
        }
        authority() { certify $1 "/CN=$2" $3 basicConstraints=critical,CA:TRUE subjectKeyIdentifier=hash; }
        authority root root root
        authority middle middle root
        authority stranger middle stranger
        local=subjectAltName=DNS:localhost
        certify leaf /CN=leaf middle "$local,DNS:*.wild.test,IP:127.0.0.1,IP:::1" authorityKeyIdentifier=keyid
        certify other /CN=other middle $local extendedKeyUsage=serverAuth
        certify client /CN=client middle $local extendedKeyUsage=clientAuth
        certify weak /CN=weak middle $local
        above=root
        for number in 1 2 3 4 5 6 7 8 9 10 11; do authority deep-$number deep-$number $above; above=deep-$number; done
        certify deep /CN=deep deep-11 $local
        names=$(seq -s , -f 'DNS:n%.0f' 1000) constraints=$(seq -s , -f 'excluded;DNS:n%.0f.test' 1000)
        above=root
        for number in 1 2 3; do
            certify named-$number /CN=named-$number $above basicConstraints=critical,CA:TRUE subjectAltName=$names \\
                "nameConstraints=$constraints"
            above=named-$number
        done
        certify named /CN=named named-3 $local,$names
        certify bounded /CN=bounded named-1 $local
        certify common /CN=localhost middle basicConstraints=CA:FALSE
        certify alone /CN=alone alone $local
        certify responder /CN=responder middle extendedKeyUsage=OCSPSigning
        days=2 certify brief /CN=brief middle extendedKeyUsage=OCSPSigning
        openssl req -new -key middle.key -subj /CN=middle -out csr
        printf 'basicConstraints=critical,CA:FALSE\nsubjectKeyIdentifier=hash' >ext
        openssl x509 -req -in csr -CA root.pem -CAkey root.key -CAcreateserial -days 30 -extfile ext -out broken.pem
        certify pretender /CN=pretender root extendedKeyUsage=OCSPSigning
        openssl x509 -in leaf.pem -outform DER -out leaf.der
        openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 \\
            -pkeyopt rsa_keygen_pubexp:1606938044258990275541962092341162602522202993782792835301377 -out expensive.key
        openssl req -x509 -key expensive.key -subj /CN=expensive -days 30 -addext $local -out expensive.pem

        # A revocation list of ISSUER: NAME ISSUER REVOKED...
        list() {
            local name=$1 issuer=$2; shift 2
            export DATABASE=$PWD/$name.index; : >$DATABASE
            for certificate; do openssl ca -revoke $certificate.pem -cert $issuer.pem -keyfile $issuer.key; done
            openssl ca -gencrl -cert $issuer.pem -keyfile $issuer.key -out $name.crl
        }
        list root-none root
        list root-middle root middle
        list middle-none middle
        list middle-leaf middle leaf
        list forged stranger
        openssl crl -in middle-leaf.crl -outform DER -out middle-leaf.crl.der

        # An answer about leaf.pem: NAME SIGNER INDEX
        openssl ocsp -issuer middle.pem -cert leaf.pem -no_nonce -reqout request
        openssl ocsp -issuer middle.pem -cert other.pem -no_nonce -reqout request-other
        export DATABASE=$PWD/good.index; : >good.index
        openssl ca -valid leaf.pem -cert middle.pem -keyfile middle.key
        openssl ca -valid other.pem -cert middle.pem -keyfile middle.key
        answer() {
            openssl ocsp -index $3.index -CA middle.pem -rsigner $2.pem -rkey $2.key ${5--ndays 1} -reqin ${4-request} \
                -respout $1.staple
        }
        answer good middle good
        answer delegated responder good
        answer brief brief good request ''
        # Does not say for how long it holds.
        answer endless middle good request ''
        answer revoked middle middle-leaf
        answer unknown middle middle-none
        answer forged stranger good
        answer pretended pretender good
        answer unauthorised other good
        answer about-other middle good request-other
        """
}
