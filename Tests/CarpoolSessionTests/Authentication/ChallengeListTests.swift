import Testing

@testable import CarpoolSession

struct ChallengeListTests {
    @Test(
        "F18: challenges and their parameters (RFC 9110, section 11.6.1)",
        arguments: [
            (#"Basic realm="a""#, "basic(realm=a)"), (#"Basic realm="a \"b\" \\c""#, #"basic(realm=a "b" \c)"#),
            (
                #"Newauth realm="apps", type=1, title="Login to \"apps\"", Basic realm="simple""#,
                #"newauth(realm=apps type=1 title=Login to "apps") basic(realm=simple)"#
            ),
            ("Negotiate", "negotiate()"), ("Negotiate abc==, Basic realm=x", "negotiate() basic(realm=x)"),
            ("Basic, Digest qop=\"auth,auth-int\"", "basic() digest(qop=auth,auth-int)"),
            ("Digest qop=auth,auth-int, nonce=\"n\"", "digest(qop=auth,auth-int nonce=n)"),
            ("Digest qop=auth, Auth realm=x", "digest(qop=auth) auth(realm=x)"),
            (" , ,Basic realm = a , ", "basic(realm=a)"),
            ("", ""), (",", ""), ("=", ""), ("=a, b=c", ""), (#""Basic""#, ""), (#"Basic realm="#, "basic(realm=)"),
            (#"Basic realm="open"#, "basic(realm=open)"), (#"Basic realm="\"#, "basic(realm=)"),
        ])
    func f18Challenges(field: String, expected: String) {
        let shown = ChallengeList.parse(Array(field.utf8)).map { challenge in
            "\(challenge.scheme)(\(challenge.parameters.map { "\($0.name)=\($0.value)" }.joined(separator: " ")))"
        }
        #expect(shown.joined(separator: " ") == expected)
    }

    @Test("Only the beginning of a long field is parsed, also of one field alone")
    func long() throws {
        let field = "Digest qop=auth" + String(repeating: ",auth", count: 20_000)
        let challenge = try #require(ChallengeList.parse(field.utf8).first)
        #expect(challenge.parameters[0].bytes.count <= 16_384)
        #expect(ChallengeList.parse([Array(field.utf8)]).first == challenge)
        #expect(ChallengeList.parse((field + ", nonce=n").utf8).first?.parameters.count == 1)
    }
}
