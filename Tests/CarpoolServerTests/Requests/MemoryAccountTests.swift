import CarpoolSession
import Testing

@testable import CarpoolServer

@Suite("The memory of jars")
struct MemoryAccountTests {
    private func accounts(ofUser: Int, all: Int) -> MemoryAccounts {
        MemoryAccounts(of: "cookies") {
            Quota.Bounds(client: ("user", ofUser), user: ("user", ofUser), all: ("all", all))
        }
    }

    /// A jar with so many cookies of about 4 KiB, each of a site of its own.
    private func jar(_ accounts: MemoryAccounts, uid: UInt32, cookies: Int) -> CookieJar {
        let jar = CookieJar(memory: accounts.make(of: uid))
        let value = String(repeating: "x", count: 3_500)
        jar.add((0..<cookies).map { Cookie(name: "n", value: value, domain: "h\($0).test") })
        return jar
    }

    private func add(_ count: Int, to jar: CookieJar) {
        let value = String(repeating: "y", count: 3_500)
        jar.add((0..<count).map { Cookie(name: "m", value: value, domain: "k\($0).test") })
    }

    @Test("Without room the largest jar of the user loses cookies, and not the one that needs it")
    func largestOfUser() {
        let accounts = accounts(ofUser: 400_000, all: 4_000_000)
        let large = jar(accounts, uid: 1, cookies: 80)
        let small = jar(accounts, uid: 1, cookies: 10)
        add(10, to: small)
        #expect(small.count == 20)
        #expect(large.count == 40)
    }

    @Test("Without room for all users, the user with the most loses cookies")
    func largestOfAll() {
        let accounts = accounts(ofUser: 400_000, all: 400_000)
        let large = jar(accounts, uid: 1, cookies: 90)
        let small = jar(accounts, uid: 2, cookies: 5)
        add(10, to: small)
        #expect(small.count == 15)
        #expect(large.count < 90)
    }

    @Test("The largest jar makes room itself")
    func itself() {
        let accounts = accounts(ofUser: 400_000, all: 4_000_000)
        let small = jar(accounts, uid: 1, cookies: 10)
        let large = jar(accounts, uid: 1, cookies: 80)
        add(20, to: large)
        #expect(small.count == 10)
        #expect(large.count < 100)
        #expect(large.all().contains { $0.domain == "k19.test" })
    }

    @Test("What a jar held is free when it is gone")
    func released() {
        let accounts = accounts(ofUser: 400_000, all: 400_000)
        var jar: CookieJar? = jar(accounts, uid: 1, cookies: 50)
        #expect(accounts.quota.used > 0)
        withExtendedLifetime(jar) {}
        jar = nil
        #expect(accounts.quota.used == 0)
    }
}
